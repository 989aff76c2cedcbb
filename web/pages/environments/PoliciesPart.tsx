import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { useAction } from "../../api/action.ts";
import { ActionDialog } from "../../parts/ActionDialog.tsx";
import { Loaded } from "../../parts/Loaded.tsx";
import { policiesQuery } from "../../parts/queries.ts";
import { Button } from "../../ui/Button.tsx";
import { Field } from "../../ui/Field.tsx";
import { Card, Quiet } from "../../ui/Layout.tsx";
import styles from "./Environments.module.css";

interface PartProps {
  org: string;
  env: string;
  policies: readonly string[];
}

function Attach({ org, env, policies, onClose }: PartProps & { onClose: () => void }) {
  const action = useAction("POST /environments/{org}/{env_name}/policies", onClose);
  const query = useQuery(policiesQuery(org));
  const [name, setName] = useState("");
  return (
    <ActionDialog
      title={`Attach a policy to ${env}`}
      submit="Attach"
      action={action}
      input={{ params: { org, env_name: env }, body: { policy_names: [name] } }}
      onClose={onClose}
    >
      <p>What runs there is judged again at once.</p>
      <Loaded query={query}>
        {(all) => (
          <Field label="Policy">
            {(tie) => (
              <select {...tie} required value={name} onChange={(event) => setName(event.target.value)}>
                <option value="">Choose one</option>
                {all
                  .filter((policy) => !policies.includes(policy.name))
                  .map((policy) => (
                    <option key={policy.name} value={policy.name}>
                      {policy.name}
                    </option>
                  ))}
              </select>
            )}
          </Field>
        )}
      </Loaded>
    </ActionDialog>
  );
}

function Detach({
  org,
  env,
  name,
  onClose,
}: Omit<PartProps, "policies"> & { name: string; onClose: () => void }) {
  const action = useAction("DELETE /environments/{org}/{env_name}/policies", onClose);
  return (
    <ActionDialog
      title={`Detach ${name}`}
      submit="Detach"
      isDanger
      action={action}
      input={{ params: { org, env_name: env }, body: { policy_names: [name] } }}
      onClose={onClose}
    >
      <p>
        What runs in {env} is judged again at once, without it. Without any policy left, its compliance is
        unknown.
      </p>
    </ActionDialog>
  );
}

/** The policies by which an environment is judged. */
export function PoliciesPart({ org, env, policies }: PartProps) {
  const [open, setOpen] = useState<string | undefined>();
  const mayNotAttach = useRefusal(org, "POST /environments/{org}/{env_name}/policies");
  const mayNotDetach = useRefusal(org, "DELETE /environments/{org}/{env_name}/policies");
  const close = (): void => setOpen(undefined);
  return (
    <Card
      title="Policies"
      aside={
        <Button icon="plus" refused={mayNotAttach} onClick={() => setOpen("")}>
          Attach a policy
        </Button>
      }
    >
      {policies.length === 0 ? (
        <Quiet>None: nothing is asked of what runs here, so its compliance is unknown.</Quiet>
      ) : (
        <ul className={styles["lines"]}>
          {policies.map((name) => (
            <li key={name}>
              <Link to="/$org/policies/$policy" params={{ org, policy: name }}>
                {name}
              </Link>
              <Button
                look="quiet"
                refused={mayNotDetach}
                aria-label={`Detach ${name}`}
                onClick={() => setOpen(name)}
              >
                Detach
              </Button>
            </li>
          ))}
        </ul>
      )}
      {open === undefined ? null : open === "" ? (
        <Attach org={org} env={env} policies={policies} onClose={close} />
      ) : (
        <Detach org={org} env={env} name={open} onClose={close} />
      )}
    </Card>
  );
}
