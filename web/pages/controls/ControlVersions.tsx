import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import type { AnswerOf } from "../../api/contract.ts";
import { pageOfHead } from "../../api/page.ts";
import { ForeignLink } from "../../parts/ForeignLink.tsx";
import { PagedList } from "../../parts/PagedList.tsx";
import { Quiet } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import styles from "./Controls.module.css";
import { controlVersionsQuery } from "./tab-queries.ts";

const route = getRouteApi("/$org/controls/$control");
type Version = AnswerOf<"GET /controls/{org}/{identifier}/versions">["versions"][number];

const columns: Column<Version>[] = [
  { key: "version", head: "Version", isNumber: true, width: "90px", cell: ({ version }) => version },
  { key: "status", head: "What was done", width: "130px", cell: ({ status }) => status },
  {
    key: "says",
    head: "What it said from then on",
    cell: ({ name, description, links }) => (
      <div style={{ overflowWrap: "anywhere" }}>
        <strong>{name}</strong>
        <div>
          <Quiet isSmall>{description ?? "no description"}</Quiet>
        </div>
        <span className={styles["links"]}>
          {Object.entries(links).map(([words, address]) => (
            <ForeignLink key={words} address={address}>
              {words}
            </ForeignLink>
          ))}
        </span>
      </div>
    ),
  },
  { key: "by", head: "By", isOptional: true, width: "160px", cell: ({ created_by }) => created_by },
  { key: "when", head: "When", width: "110px", cell: ({ created_at }) => <Time at={created_at} /> },
];

/** The history of a control, the latest first. */
export function ControlVersions() {
  const { org, control } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(controlVersionsQuery(org, control, search));
  const { data } = query;
  const page = data === undefined ? undefined : pageOfHead(data, data.versions);
  return (
    <PagedList
      query={query}
      page={page}
      empty={null}
      onPage={(number) => void navigate({ search: (before) => ({ ...before, page: number }) })}
    >
      {(rows, isOld) => (
        <Table
          label="Versions"
          columns={columns}
          rows={rows}
          rowKey={({ version }) => String(version)}
          expectedRows={3}
          isOld={isOld}
        />
      )}
    </PagedList>
  );
}
