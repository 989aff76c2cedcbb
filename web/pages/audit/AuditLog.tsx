import { getRouteApi, Link } from "@tanstack/react-router";

import { useRefusal } from "../../api/account.ts";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { PageHead } from "../../shell/PageHead.tsx";
import { auditExport } from "./exports.ts";
import { MembershipLog } from "./MembershipLog.tsx";
import { WriteLog } from "./WriteLog.tsx";

const route = getRouteApi("/$org/audit-log");

const kinds = [
  [undefined, "Every write"],
  ["members", "Members and roles"],
] as const;

/** Who did what, and when. */
export function AuditLog() {
  const { org } = route.useParams();
  const search = route.useSearch();
  const isMembers = search.kind === "members";
  const refused = useRefusal(org, "GET /audit-log/{org}");
  return (
    <>
      <PageHead
        title="Audit log"
        about={
          isMembers
            ? "Who became a member, by whom, and in which role."
            : "Every write to this organization. Entries are never changed or removed."
        }
        actions={<ExportMenu list={auditExport(org, search)} refused={refused} />}
        tabs={kinds.map(([kind, words]) => (
          <Link
            key={words}
            to="/$org/audit-log"
            params={{ org }}
            search={kind === undefined ? {} : { kind }}
            activeOptions={{ exact: true }}
            aria-current={kind === search.kind ? "page" : undefined}
          >
            {words}
          </Link>
        ))}
      />
      {isMembers ? <MembershipLog /> : <WriteLog />}
    </>
  );
}
