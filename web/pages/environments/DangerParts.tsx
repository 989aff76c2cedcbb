import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { useAction } from "../../api/action.ts";
import { ActionDialog, wrongField } from "../../parts/ActionDialog.tsx";
import { Button } from "../../ui/Button.tsx";
import { Field } from "../../ui/Field.tsx";
import { Card } from "../../ui/Layout.tsx";
import styles from "./Environments.module.css";

interface PartProps {
  org: string;
  env: string;
}

function Rename({ org, env, onClose }: PartProps & { onClose: () => void }) {
  const navigate = useNavigate();
  const [name, setName] = useState(env);
  const action = useAction("PUT /environments/{org}/{env_name}/rename", () => {
    onClose();
    void navigate({ to: "/$org/environments/$env/settings", params: { org, env: name }, replace: true });
  });
  return (
    <ActionDialog
      title={`Rename ${env}`}
      submit="Rename"
      action={action}
      input={{ params: { org, env_name: env }, body: { new_name: name } }}
      onClose={onClose}
    >
      <Field
        label="New name"
        hint="The old name keeps working until another environment takes it."
        wrong={wrongField(action.error, "new_name")}
      >
        {(tie) => <input {...tie} required value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
    </ActionDialog>
  );
}

/** Gives an environment another name. */
export function RenamePart({ org, env }: PartProps) {
  const [isOpen, setOpen] = useState(false);
  const refused = useRefusal(org, "PUT /environments/{org}/{env_name}/rename");
  return (
    <Card
      title="Name"
      aside={
        <Button icon="edit" refused={refused} onClick={() => setOpen(true)}>
          Rename
        </Button>
      }
    >
      <p className={styles["lead"]}>{env}</p>
      {isOpen ? <Rename org={org} env={env} onClose={() => setOpen(false)} /> : null}
    </Card>
  );
}

function Archive({ org, env, onClose }: PartProps & { onClose: () => void }) {
  const navigate = useNavigate();
  // Its name is free from then on: there is nothing at this address any more.
  const action = useAction("PUT /environments/{org}/{env_name}/archive", () => {
    onClose();
    return navigate({ to: "/$org/environments", params: { org }, search: { archived: true } });
  });
  return (
    <ActionDialog
      title={`Archive ${env}`}
      submit="Archive"
      isDanger
      action={action}
      input={{ params: { org, env_name: env } }}
      onClose={onClose}
    >
      <p>
        Its records are kept and its name becomes free. It leaves logical environments and actions, and
        nothing can be reported on it any more.
      </p>
    </ActionDialog>
  );
}

function Unarchive({ org, env, onClose }: PartProps & { onClose: () => void }) {
  const action = useAction("PUT /environments/{org}/{env_name}/unarchive", onClose);
  return (
    <ActionDialog
      title={`Take ${env} out of the archive`}
      submit="Take it out"
      action={action}
      input={{ params: { org, env_name: env } }}
      onClose={onClose}
    >
      <p>It can be reported on again, as long as no other environment has taken its name.</p>
    </ActionDialog>
  );
}

/** Puts an environment away, or takes it back. */
export function ArchivePart({ org, env, isArchived }: PartProps & { isArchived: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const refused = useRefusal(
    org,
    isArchived
      ? "PUT /environments/{org}/{env_name}/unarchive"
      : "PUT /environments/{org}/{env_name}/archive",
  );
  const close = (): void => setOpen(false);
  const Ask = isArchived ? Unarchive : Archive;
  return (
    <Card
      title="Archive"
      aside={
        <Button look={isArchived ? "plain" : "danger"} refused={refused} onClick={() => setOpen(true)}>
          {isArchived ? "Take out of the archive" : "Archive"}
        </Button>
      }
    >
      <p className={styles["lead"]}>
        {isArchived ? "It is archived: its records are kept." : "For environments that are no more."}
      </p>
      {isOpen ? <Ask org={org} env={env} onClose={close} /> : null}
    </Card>
  );
}
