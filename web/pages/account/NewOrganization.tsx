import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";

import { organizationsQuery, useRefusal } from "../../api/account.ts";
import { useAction } from "../../api/action.ts";
import { ApiError } from "../../api/errors.ts";
import { wrongField } from "../../parts/ActionDialog.tsx";
import { NameField, nameRefusal, type NameSearch, useNewName } from "../../parts/NewName.tsx";
import { DescriptionField, NewForm, useNewDraft } from "../../parts/NewThing.tsx";
import { Openness } from "../../parts/Openness.tsx";
import { Crumb, PageHead } from "../../shell/PageHead.tsx";
import { Field } from "../../ui/Field.tsx";
import { AccountFrame } from "./AccountFrame.tsx";

const start = { name: "", display_name: "", description: "", public: false };

/** What the server says of a name without saying that it does: it is reserved, or somebody has it whom the caller need not know. */
function saidOfName(error: Error | null, name: string): string | undefined {
  const isSaid = error instanceof ApiError && error.status === 400 && error.message.includes(`'${name}'`);
  return isSaid && Object.keys(error.errors).length === 0 ? error.message : undefined;
}

/** Looks for a name among the caller's organizations: others are for the server to know. */
function useOwnNamed(): (name: string) => NameSearch {
  const queries = useQueryClient();
  return (name) => ({
    queryKey: ["organizations", name],
    queryFn: async () => {
      const own = await queries.ensureQueryData(organizationsQuery);
      return own.some((one) => one.name === name) ? name : null;
    },
  });
}

interface FieldsProps {
  draft: typeof start;
  error: Error | null;
  onChange: (part: Partial<typeof start>) => void;
}

function Fields({ draft, error, onChange }: FieldsProps) {
  return (
    <>
      <Field
        label="Display name"
        hint="Shown in place of the name; it can be changed."
        wrong={wrongField(error, "display_name")}
      >
        {(tie) => (
          <input
            {...tie}
            autoComplete="off"
            placeholder={draft.name}
            value={draft.display_name}
            onChange={(event) => onChange({ display_name: event.target.value })}
          />
        )}
      </Field>
      <DescriptionField
        text={draft.description}
        error={error}
        onChange={(description) => onChange({ description })}
      />
      <Openness given={draft.public} stored={false} onChange={(isOpen) => onChange({ public: isOpen })} />
    </>
  );
}

function Form() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const written = useNewDraft(start);
  const { name } = written.draft;
  const named = useNewName("organization", name, useOwnNamed());
  const create = useAction("POST /organizations", async (made) => {
    written.end();
    // What may be done there depends on it.
    await queries.refetchQueries({ queryKey: organizationsQuery.queryKey, exact: true });
    await navigate({ to: "/$org", params: { org: made.name } });
  });
  const change = (part: Partial<typeof start>): void => {
    create.reset();
    written.change(part);
  };
  return (
    <NewForm
      action={create}
      input={{ body: written.draft }}
      submit="Make the organization"
      written={written}
      mayNot={useRefusal("", "POST /organizations")}
      refused={nameRefusal(named)}
      onCancel={() => void navigate({ to: "/-/organizations" })}
    >
      <NameField
        named={named}
        onChange={(changed) => change({ name: changed })}
        action={create}
        said={saidOfName(create.error, name)}
        hint="It stands in all addresses, and does not change."
        linkTo={(words) => (
          <Link to="/$org" params={{ org: name }}>
            {words}
          </Link>
        )}
      />
      <Fields draft={written.draft} error={create.error} onChange={change} />
    </NewForm>
  );
}

/** The page that makes an organization. */
export function NewOrganization() {
  return (
    <AccountFrame>
      <PageHead
        title="New organization"
        about="You become its first administrator."
        crumbs={
          <Crumb>
            <Link to="/-/organizations">Organizations</Link>
          </Crumb>
        }
      />
      <Form />
    </AccountFrame>
  );
}
