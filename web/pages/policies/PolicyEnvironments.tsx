import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { sending, useAction, useActions } from "../../api/action.ts";
import type { AnswerOf } from "../../api/contract.ts";
import { pageOfHead } from "../../api/page.ts";
import { verdictOfFlag } from "../../domain/verdict.ts";
import { ActionDialog, SendDialog } from "../../parts/ActionDialog.tsx";
import { EnvironmentPicker } from "../../parts/EnvironmentPicker.tsx";
import { Loaded } from "../../parts/Loaded.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Button } from "../../ui/Button.tsx";
import { Card, Quiet } from "../../ui/Layout.tsx";
import { Pager } from "../../ui/Pager.tsx";
import { Waiting } from "../../ui/Waiting.tsx";
import styles from "./Policies.module.css";
import { type Policy, policyEnvironmentsQuery } from "./queries.ts";

const route = getRouteApi("/$org/policies/$policy");
type Environment = Exclude<AnswerOf<"GET /environments/{org}">, readonly unknown[]>["environments"][number];

/** Asks which environments the policy is to judge, too. */
export function AttachDialog({ org, policy, onClose }: { org: string; policy: Policy; onClose: () => void }) {
  const [chosen, choose] = useState<string[]>([]);
  const attach = useActions(onClose);
  const sends = chosen.map((env_name) =>
    sending("POST /environments/{org}/{env_name}/policies", {
      params: { org, env_name },
      body: { policy_names: [policy.name] },
    }),
  );
  return (
    <SendDialog
      title={`Attach ${policy.name}`}
      submit={chosen.length < 2 ? "Attach to 1 environment" : `Attach to ${chosen.length} environments`}
      action={attach}
      sends={sends}
      refused={chosen.length === 0 ? "Choose an environment" : undefined}
      onSubmit={() => attach.mutate(sends)}
      onClose={onClose}
    >
      <p>What runs there is judged again at once, and the outcome is a new snapshot.</p>
      <EnvironmentPicker
        org={org}
        label="Environments"
        chosen={chosen}
        onChange={choose}
        without={{ names: policy.consuming_envs, are: "attached already" }}
      />
    </SendDialog>
  );
}

function DetachDialog({ env, onClose }: { env: string; onClose: () => void }) {
  const { org, policy } = route.useParams();
  const detach = useAction("DELETE /environments/{org}/{env_name}/policies", onClose);
  return (
    <ActionDialog
      title={`Detach from ${env}`}
      submit="Detach"
      isDanger
      action={detach}
      input={{ params: { org, env_name: env }, body: { policy_names: [policy] } }}
      onClose={onClose}
    >
      <p>
        <b>{policy}</b> no longer judges what runs in <b>{env}</b>, which is judged again at once; without any
        policy left its compliance is unknown.
      </p>
    </ActionDialog>
  );
}

function Line({ environment, onDetach }: { environment: Environment; onDetach: () => void }) {
  const { org } = route.useParams();
  const { name, state, artifact_compliance_count: counts } = environment;
  const refused = useRefusal(org, "DELETE /environments/{org}/{env_name}/policies");
  return (
    <li>
      <VerdictMark verdict={verdictOfFlag(state)} isBare />
      <Link to="/$org/environments/$env" params={{ org, env: name }}>
        {name}
      </Link>
      {counts === null || counts === undefined || counts.false === 0 ? null : (
        <Link
          to="/$org/environments/$env"
          params={{ org, env: name }}
          search={{ verdict: "non-compliant" }}
          style={{ flex: "none" }}
        >
          {counts.false} non-compliant
        </Link>
      )}
      <Button
        look="quiet"
        icon="close"
        aria-label={`Detach from ${name}`}
        refused={refused}
        onClick={onDetach}
      />
    </li>
  );
}

/** The environments that a policy judges, with their state. */
export function PolicyEnvironments() {
  const { org, policy } = route.useParams();
  const { page: asked } = route.useSearch();
  const navigate = route.useNavigate();
  const [detaching, detach] = useState<string>();
  const query = useQuery(policyEnvironmentsQuery(org, policy, asked));
  return (
    <Card title="Environments it judges">
      <Loaded query={query} waiting={<Waiting />}>
        {(data) => {
          if (Array.isArray(data)) return null;
          const page = pageOfHead(data, data.environments);
          if (page.total === 0) return <Quiet>None: it is attached nowhere yet.</Quiet>;
          return (
            <>
              <ul className={styles["environments"]}>
                {page.items.map((environment) => (
                  <Line
                    key={environment.name}
                    environment={environment}
                    onDetach={() => detach(environment.name)}
                  />
                ))}
              </ul>
              {(page.total ?? 0) <= page.per_page ? null : (
                <Pager
                  {...page}
                  count={page.items.length}
                  onPage={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
                />
              )}
            </>
          );
        }}
      </Loaded>
      {detaching === undefined ? null : <DetachDialog env={detaching} onClose={() => detach(undefined)} />}
    </Card>
  );
}
