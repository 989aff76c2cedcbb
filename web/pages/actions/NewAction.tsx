import { getRouteApi, Link } from "@tanstack/react-router";
import { useRef, useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { sending, useAction } from "../../api/action.ts";
import {
  type ActionDraft,
  actionStart,
  actionText,
  type ActionType,
  type WrittenAction,
} from "../../domain/action-drafts.ts";
import { LeaveGuard } from "../../parts/LeaveGuard.tsx";
import { Crumb, PageHead } from "../../shell/PageHead.tsx";
import { ActionForm } from "./ActionForm.tsx";

const route = getRouteApi("/$org/actions/-/new");

const kinds = [
  ["env", "On environments"],
  ["flow", "On flows"],
] as const;

/** Holds what is written of an action on environments and of one on flows, which share their name and whom they tell. */
function useDraft(type: ActionType) {
  const [drafts, setDrafts] = useState({ env: actionStart, flow: actionStart });
  const write = (draft: ActionDraft): void => {
    const { name, targets } = draft;
    const { env, flow } = drafts;
    setDrafts({
      env: type === "env" ? draft : { ...env, name, targets },
      flow: type === "flow" ? draft : { ...flow, name, targets },
    });
  };
  const isChanged = kinds.some(([kind]) => actionText(kind, drafts[kind]) !== actionText(kind, actionStart));
  return { draft: drafts[type], write, isChanged };
}

/** The head of the page, with a tab for each kind of action. */
function Head({ org, type }: { org: string; type: ActionType }) {
  return (
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
          search={kind === "env" ? {} : { type: kind }}
          activeOptions={{ exact: true }}
          aria-current={kind === type ? "page" : undefined}
        >
          {words}
        </Link>
      ))}
    />
  );
}

/** The page that makes an action. */
export function NewAction() {
  const { org } = route.useParams();
  const { type = "env" } = route.useSearch();
  const navigate = route.useNavigate();
  const { draft, write, isChanged } = useDraft(type);
  const isDone = useRef(false);
  const toList = (): void => {
    isDone.current = true;
    void navigate({ to: "/$org/actions", params: { org } });
  };
  const forEnvironments = useAction("PUT /actions/{org}/environments", toList);
  const forFlows = useAction("PUT /actions/{org}/flows", toList);
  const refused = useRefusal(org, "PUT /actions/{org}/environments");
  const send = (written: WrittenAction): void => {
    if (written.type === "env") forEnvironments.mutate({ params: { org }, body: written });
    else forFlows.mutate({ params: { org }, body: written });
  };
  return (
    <>
      <Head org={org} type={type} />
      <ActionForm
        org={org}
        type={type}
        draft={draft}
        onChange={write}
        keeps={false}
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
      <LeaveGuard isChanged={() => isChanged && !isDone.current} />
    </>
  );
}
