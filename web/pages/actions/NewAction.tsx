import { getRouteApi, Link } from "@tanstack/react-router";

import { useRefusal } from "../../api/account.ts";
import { sending, useAction } from "../../api/action.ts";
import { Crumb, PageHead } from "../../shell/PageHead.tsx";
import { ActionForm, type WrittenAction } from "./ActionForm.tsx";

const route = getRouteApi("/$org/actions/-/new");

const kinds = [
  [undefined, "On environments"],
  ["flow", "On flows"],
] as const;

/** The page that makes an action. */
export function NewAction() {
  const { org } = route.useParams();
  const { type } = route.useSearch();
  const navigate = route.useNavigate();
  const toList = (): void => void navigate({ to: "/$org/actions", params: { org } });
  const forEnvironments = useAction("PUT /actions/{org}/environments", toList);
  const forFlows = useAction("PUT /actions/{org}/flows", toList);
  const refused = useRefusal(org, "PUT /actions/{org}/environments");
  const send = (written: WrittenAction): void => {
    if (written.type === "env") forEnvironments.mutate({ params: { org }, body: written });
    else forFlows.mutate({ params: { org }, body: written });
  };
  return (
    <>
      <PageHead
        title="New action"
        crumbs={
          <Crumb>
            <Link to="/$org/actions" params={{ org }}>
              Actions
            </Link>
          </Crumb>
        }
        tabs={kinds.map(([kind, words]) => (
          <Link
            key={words}
            to="/$org/actions/-/new"
            params={{ org }}
            search={kind === undefined ? {} : { type: kind }}
            activeOptions={{ exact: true }}
            aria-current={kind === type ? "page" : undefined}
          >
            {words}
          </Link>
        ))}
      />
      <ActionForm
        key={type}
        org={org}
        type={type ?? "env"}
        submit="Make the action"
        action={type === "flow" ? forFlows : forEnvironments}
        refused={refused}
        sends={(written) => [
          written.type === "env"
            ? sending(forEnvironments.operation, { params: { org }, body: written })
            : sending(forFlows.operation, { params: { org }, body: written }),
        ]}
        onSubmit={send}
        onCancel={toList}
      />
    </>
  );
}
