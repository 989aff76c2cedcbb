import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { useRefusal } from "../../api/account.ts";
import { useAction } from "../../api/action.ts";
import { differing } from "../../domain/differing.ts";
import { wrongField } from "../../parts/ActionDialog.tsx";
import { Loaded } from "../../parts/Loaded.tsx";
import { Openness } from "../../parts/Openness.tsx";
import { WriteForm } from "../../parts/WriteForm.tsx";
import { Field } from "../../ui/Field.tsx";
import { Card, Facts, Split, Stack } from "../../ui/Layout.tsx";
import { Time } from "../../ui/Time.tsx";
import { useWritten } from "../../ui/useWritten.ts";
import { type Organization, organizationQuery } from "./queries.ts";
import { SettingsHead } from "./SettingsHead.tsx";

const route = getRouteApi("/$org/settings/general");

function SettingsForm({ organization }: { organization: Organization }) {
  const { org } = route.useParams();
  const [display_name, writeName] = useWritten(organization.display_name);
  const [description, writeDescription] = useWritten(organization.description);
  const [isPublic, writePublic] = useWritten(organization.public);
  const refused = useRefusal(org, "PATCH /organizations/{org}");
  const save = useAction("PATCH /organizations/{org}");
  const body = differing({ display_name, description, public: isPublic }, organization);
  const isSame = Object.keys(body).length === 0;
  const change = (write: () => void): void => {
    save.reset();
    write();
  };
  return (
    <WriteForm
      action={save}
      input={{ params: { org }, body }}
      submit="Save"
      isPrimary
      refused={refused ?? (isSame ? "Nothing was changed" : undefined)}
      isChanged={() => !isSame}
    >
      <Field
        label="Display name"
        hint="Shown in place of the name, which does not change."
        wrong={wrongField(save.error, "display_name")}
      >
        {(tie) => (
          <input
            {...tie}
            value={display_name}
            placeholder={organization.name}
            onChange={(event) => change(() => writeName(event.target.value))}
          />
        )}
      </Field>
      <Field label="Description" wrong={wrongField(save.error, "description")}>
        {(tie) => (
          <textarea
            {...tie}
            value={description}
            onChange={(event) => change(() => writeDescription(event.target.value))}
          />
        )}
      </Field>
      <Openness
        given={isPublic}
        stored={organization.public}
        onChange={(isOpen) => change(() => writePublic(isOpen))}
      />
    </WriteForm>
  );
}

/** What an organization is called, and who may read it. */
export function General() {
  const { org } = route.useParams();
  const query = useQuery(organizationQuery(org));
  return (
    <>
      <SettingsHead org={org} />
      <Loaded query={query}>
        {(organization) => (
          <Split>
            <Stack>
              <SettingsForm organization={organization} />
            </Stack>
            <Card title="Organization">
              <Facts
                facts={[
                  ["Name", <code key="name">{organization.name}</code>],
                  ["Kind", organization.kind],
                  ["Open to", organization.public ? "everybody" : "its members"],
                  ["Made", <Time key="made" at={organization.created_at} />],
                  ["Changed", <Time key="changed" at={organization.last_modified_at} />],
                ]}
              />
            </Card>
          </Split>
        )}
      </Loaded>
    </>
  );
}
