import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { useAction } from "../../api/action.ts";
import { call } from "../../api/client.ts";
import type { InputOf } from "../../api/contract.ts";
import { environmentTypeHints } from "../../domain/environment-types.ts";
import { wrongField } from "../../parts/ActionDialog.tsx";
import { EnvironmentPicker } from "../../parts/EnvironmentPicker.tsx";
import { environmentTypeWords } from "../../parts/environments.ts";
import { Loaded } from "../../parts/Loaded.tsx";
import { NameField, nameOf, nameRefusal, type NameSearch, useNewName } from "../../parts/NewName.tsx";
import { DescriptionField, NewForm, useNewDraft } from "../../parts/NewThing.tsx";
import { policiesQuery } from "../../parts/queries.ts";
import { Crumb, PageHead } from "../../shell/PageHead.tsx";
import { Check, ChoiceField } from "../../ui/Field.tsx";
import { Fold, Quiet } from "../../ui/Layout.tsx";
import styles from "./Environments.module.css";

const route = getRouteApi("/$org/environments/-/new");

type Type = keyof typeof environmentTypeWords;

const types = [["", "Choose one"], ...Object.entries(environmentTypeWords)] as (readonly [
  Type | "",
  string,
])[];

/** What is written of an environment that is not there yet. */
interface Draft {
  name: string;
  type: Type | "";
  description: string;
  members: readonly string[];
  policies: readonly string[];
}

const start: Draft = { name: "", type: "", description: "", members: [], policies: [] };

/** Finds what a name leads to: environments keep their former names until another one takes them. */
function environmentNamed(org: string, env_name: string): NameSearch {
  const input = { params: { org, env_name } };
  return {
    queryKey: ["GET /environments/{org}/{env_name}", input, "name"],
    queryFn: ({ signal }) => nameOf(call("GET /environments/{org}/{env_name}", input, signal)),
  };
}

function bodyOf({ type, members, policies, ...rest }: Draft): InputOf<"PUT /environments/{org}">["body"] {
  return {
    ...rest,
    // The button says so while there is none.
    type: type === "" ? "K8S" : type,
    ...(type === "logical" ? { included_environments: [...members] } : {}),
    ...(policies.length === 0 ? {} : { policies: [...policies] }),
  };
}

interface PoliciesProps {
  org: string;
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}

function PolicyChecks({ org, chosen, onChange }: PoliciesProps) {
  return (
    <Loaded query={useQuery(policiesQuery(org))}>
      {(policies) =>
        policies.length === 0 ? (
          <Quiet>This organization has none yet.</Quiet>
        ) : (
          <fieldset className={styles["checks"]} aria-label="Policies">
            {policies.map(({ name }) => (
              <Check
                key={name}
                checked={chosen.includes(name)}
                onChange={({ target }) =>
                  onChange(target.checked ? [...chosen, name] : chosen.filter((one) => one !== name))
                }
              >
                {name}
              </Check>
            ))}
          </fieldset>
        )
      }
    </Loaded>
  );
}

/** Chooses by what it is judged, for those who want that at once. */
function Policies(props: PoliciesProps) {
  const [isOpen, open] = useState(false);
  const { length } = props.chosen;
  return (
    <Fold title={`Policies${length === 0 ? "" : `: ${length} chosen`}`} onToggle={open}>
      {isOpen ? <PolicyChecks {...props} /> : null}
    </Fold>
  );
}

interface FieldsProps {
  org: string;
  draft: Draft;
  error: Error | null;
  onChange: (part: Partial<Draft>) => void;
}

function Fields({ org, draft: { type, description, members, policies }, error, onChange }: FieldsProps) {
  return (
    <>
      <ChoiceField
        label="Type"
        hint={type === "" ? "What runs there. It cannot be changed later." : environmentTypeHints[type]}
        wrong={wrongField(error, "type")}
        choices={types}
        chosen={type}
        onChoose={(chosen) => onChange({ type: chosen })}
      />
      {type === "logical" ? (
        <EnvironmentPicker
          org={org}
          label="Members"
          hint="It can be left without any, and more can be added later."
          chosen={members}
          onChange={(chosen) => onChange({ members: chosen })}
          isReported
        />
      ) : null}
      <DescriptionField
        text={description}
        hint="What it is for; it stands in the list."
        error={error}
        onChange={(text) => onChange({ description: text })}
      />
      <Policies org={org} chosen={policies} onChange={(chosen) => onChange({ policies: chosen })} />
    </>
  );
}

function Form({ org }: { org: string }) {
  const navigate = route.useNavigate();
  const written = useNewDraft(start);
  const { name, type } = written.draft;
  const named = useNewName("environment", name, (wanted) => environmentNamed(org, wanted));
  const create = useAction(
    "PUT /environments/{org}",
    (_answer, { body }) => {
      written.end();
      return navigate({ to: "/$org/environments/$env", params: { org, env: body.name } });
    },
    named.requireFree,
  );
  const mayNot = useRefusal(org, "PUT /environments/{org}");
  const change = (part: Partial<Draft>): void => {
    create.reset();
    written.change(part);
  };
  return (
    <NewForm
      action={create}
      input={{ params: { org }, body: bodyOf(written.draft) }}
      submit="Make the environment"
      written={written}
      mayNot={mayNot}
      refused={nameRefusal(named) ?? (type === "" ? "Choose a type first" : undefined)}
      onCancel={() => void navigate({ to: "/$org/environments", params: { org } })}
    >
      <NameField
        named={named}
        onChange={(changed) => change({ name: changed })}
        action={create}
        linkTo={(words) => (
          <Link to="/$org/environments/$env" params={{ org, env: name }}>
            {words}
          </Link>
        )}
      />
      <Fields org={org} draft={written.draft} error={create.error} onChange={change} />
    </NewForm>
  );
}

/** The page that makes an environment. */
export function NewEnvironment() {
  const { org } = route.useParams();
  return (
    <>
      <PageHead
        title="New environment"
        crumbs={
          <Crumb>
            <Link to="/$org/environments" params={{ org }}>
              Environments
            </Link>
          </Crumb>
        }
      />
      <Form org={org} />
    </>
  );
}
