import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { useAction } from "../../api/action.ts";
import { pathOfSpace, treeLines } from "../../domain/space-tree.ts";
import { ActionDialog, wrongField } from "../../parts/ActionDialog.tsx";
import { EnvironmentPicker } from "../../parts/EnvironmentPicker.tsx";
import { Loaded } from "../../parts/Loaded.tsx";
import { spacesQuery } from "../../parts/spaces.ts";
import { WriteForm } from "../../parts/WriteForm.tsx";
import { Button } from "../../ui/Button.tsx";
import { Field } from "../../ui/Field.tsx";
import { Card, Quiet } from "../../ui/Layout.tsx";
import { useWritten } from "../../ui/useWritten.ts";
import styles from "./Environments.module.css";

const operation = "PATCH /environments/{org}/{env_name}";

interface PartProps {
  org: string;
  env: string;
}

type Spaces = readonly { id: string; name: string; parent_id: string | null }[];

function SpaceForm({ org, env, space, spaces }: PartProps & { space: string | null; spaces: Spaces }) {
  const [chosen, choose] = useWritten(space ?? "");
  const action = useAction(operation);
  const refused = useRefusal(org, operation);
  const isSame = chosen === (space ?? "");
  return (
    <WriteForm
      action={action}
      input={{ params: { org, env_name: env }, body: { space_id: chosen === "" ? null : chosen } }}
      submit="Move it there"
      refused={refused ?? (isSame ? "Nothing was changed" : undefined)}
      isChanged={() => !isSame}
    >
      <Field
        label="Where it stands in the tree of spaces"
        hint="It changes where it is found, not who may do what."
        wrong={wrongField(action.error, "space_id")}
      >
        {(tie) => (
          <select
            {...tie}
            value={chosen}
            onChange={(event) => {
              action.reset();
              choose(event.target.value);
            }}
          >
            <option value="">In no space</option>
            {treeLines(spaces).map(({ space: { id } }) => (
              <option key={id} value={id}>
                {pathOfSpace(spaces, id)}
              </option>
            ))}
          </select>
        )}
      </Field>
    </WriteForm>
  );
}

/** The space that an environment is kept in. */
export function SpacePart({ org, env, space }: PartProps & { space: string | null }) {
  const query = useQuery(spacesQuery(org));
  return (
    <Card title="Space">
      <Loaded query={query}>
        {(spaces) =>
          spaces.length === 0 ? (
            <Quiet>
              There are none yet:{" "}
              <Link to="/$org/spaces" params={{ org }}>
                make the first one
              </Link>
              .
            </Quiet>
          ) : (
            <SpaceForm org={org} env={env} space={space} spaces={spaces} />
          )
        }
      </Loaded>
    </Card>
  );
}

function ChooseMembers({
  org,
  env,
  members,
  onClose,
}: PartProps & { members: readonly string[]; onClose: () => void }) {
  const [chosen, choose] = useState([...members]);
  const action = useAction(operation, onClose);
  return (
    <ActionDialog
      title={`Members of ${env}`}
      submit="Save the members"
      action={action}
      input={{ params: { org, env_name: env }, body: { included_environments: chosen } }}
      onClose={onClose}
    >
      <p>
        A logical environment shows what runs in its members, which are environments that are reported on.
      </p>
      <EnvironmentPicker
        org={org}
        label="Members"
        chosen={chosen}
        onChange={choose}
        isReported
        without={{ names: [env], are: "this one" }}
      />
    </ActionDialog>
  );
}

/** What a logical environment is made of. */
export function MembersPart({ org, env, members }: PartProps & { members: readonly string[] }) {
  const [isOpen, setOpen] = useState(false);
  const refused = useRefusal(org, operation);
  return (
    <Card
      title="Members"
      aside={
        <Button icon="edit" refused={refused} onClick={() => setOpen(true)}>
          Choose members
        </Button>
      }
    >
      {members.length === 0 ? (
        <Quiet>None yet: nothing runs here until it has some.</Quiet>
      ) : (
        <ul className={styles["lines"]}>
          {members.map((member) => (
            <li key={member}>
              <Link to="/$org/environments/$env" params={{ org, env: member }}>
                {member}
              </Link>
            </li>
          ))}
        </ul>
      )}
      {isOpen ? <ChooseMembers org={org} env={env} members={members} onClose={() => setOpen(false)} /> : null}
    </Card>
  );
}
