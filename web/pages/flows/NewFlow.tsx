import { getRouteApi, Link } from "@tanstack/react-router";
import { useRef } from "react";

import { useRefusal } from "../../api/account.ts";
import { useAction } from "../../api/action.ts";
import { call } from "../../api/client.ts";
import { roleUnknown } from "../../domain/roles.ts";
import { wrongField } from "../../parts/ActionDialog.tsx";
import { NameField, nameOf, nameRefusal, type NameSearch, useNewName } from "../../parts/NewName.tsx";
import { DescriptionField, NewForm, useNewDraft } from "../../parts/NewThing.tsx";
import { Writing, WritingSides } from "../../parts/Writing.tsx";
import { Crumb, PageHead } from "../../shell/PageHead.tsx";
import { ChoiceField } from "../../ui/Field.tsx";
import { Quiet } from "../../ui/Layout.tsx";
import styles from "./Flows.module.css";
import type { Flow } from "./queries.ts";
import { flowForm, useTemplate } from "./template.ts";
import { TemplatePreview } from "./TemplatePreview.tsx";

const route = getRouteApi("/$org/flows/-/new");
const operation = "PUT /flows/{org}/template_file";

/** What stands in the editor at first: it asks for nothing, and shows how one asks. */
const templateStart = `version: 1
# What each trail of the flow needs, for example:
#
# trail:
#   attestations:
#     - name: review
#       type: pull_request
#   artifacts:
#     - name: app
#       attestations:
#         - name: unit-tests
#           type: junit
`;

const visibilities = [
  ["private", "Private"],
  ["public", "Public"],
] as const;

type Draft = Pick<Flow, "name" | "description" | "visibility"> & { template: string };

const start: Draft = { name: "", description: "", visibility: "private", template: templateStart };

/** Finds what a name leads to: flows keep their former names until another one takes them. */
function flowNamed(org: string, flow_name: string): NameSearch {
  const input = { params: { org, flow_name } };
  return {
    queryKey: ["GET /flows/{org}/{flow_name}", input, "name"],
    queryFn: ({ signal }) => nameOf(call("GET /flows/{org}/{flow_name}", input, signal)),
  };
}

interface TemplateProps {
  text: string;
  onWrite: (text: string) => void;
  /** What is known of the text. */
  written: ReturnType<typeof useTemplate>;
}

/** The text of the template, and beside it what it asks for. */
function Template({ text, onWrite, written: { check, template, isOld } }: TemplateProps) {
  return (
    <WritingSides>
      <Writing
        label="Template, YAML"
        text={text}
        onWrite={onWrite}
        check={check}
        right="A template without mistakes"
        above={
          <div>
            <h2>Template</h2>
            <Quiet isSmall>Which evidence its trails need. It can be left as it is, and written later.</Quiet>
          </div>
        }
      >
        {null}
      </Writing>
      <TemplatePreview template={template} kept={undefined} isOld={isOld} />
    </WritingSides>
  );
}

interface FieldsProps {
  draft: Draft;
  error: Error | null;
  onChange: (part: Partial<Draft>) => void;
}

function Fields({ draft: { description, visibility }, error, onChange }: FieldsProps) {
  return (
    <>
      <DescriptionField
        text={description}
        hint="What is built and delivered by it; it stands in the list."
        error={error}
        onChange={(text) => onChange({ description: text })}
      />
      <ChoiceField
        label="Visibility"
        hint="It is told beside the name. Who may read is set for the whole organization."
        wrong={wrongField(error, "visibility")}
        choices={visibilities}
        chosen={visibility}
        onChoose={(chosen) => onChange({ visibility: chosen })}
      />
    </>
  );
}

function Form({ org }: { org: string }) {
  const navigate = route.useNavigate();
  const held = useNewDraft(start);
  const { name, template } = held.draft;
  const named = useNewName("flow", name, (wanted) => flowNamed(org, wanted));
  // What stands in the field when it is made may be another name.
  const sent = useRef(name);
  const create = useAction(
    operation,
    () => {
      held.end();
      return navigate({ to: "/$org/flows/$flow", params: { org, flow: sent.current } });
    },
    () => {
      sent.current = name;
      return named.requireFree();
    },
  );
  const mayNotCheck = useRefusal(org, "POST /flows/{org}/template/check");
  const written = useTemplate(org, template, mayNotCheck === undefined);
  const isStart = template === templateStart;
  const isRight = isStart || written.check.state === "right";
  const change = (part: Partial<Draft>): void => {
    create.reset();
    held.change(part);
  };
  return (
    <NewForm
      action={create}
      input={{ params: { org }, body: flowForm(held.draft, isStart ? undefined : template) }}
      submit="Make the flow"
      isWide
      written={held}
      mayNot={useRefusal(org, operation)}
      refused={nameRefusal(named) ?? (isRight ? undefined : "The text has to be without mistakes")}
      onCancel={() => void navigate({ to: "/$org/flows", params: { org } })}
    >
      <div className={styles["fields"]}>
        <NameField
          named={named}
          onChange={(changed) => change({ name: changed })}
          action={create}
          linkTo={(words) => (
            <Link to="/$org/flows/$flow" params={{ org, flow: name }}>
              {words}
            </Link>
          )}
        />
        <Fields draft={held.draft} error={create.error} onChange={change} />
      </div>
      {mayNotCheck === undefined || mayNotCheck === roleUnknown ? (
        <Template text={template} onWrite={(text) => change({ template: text })} written={written} />
      ) : null}
    </NewForm>
  );
}

/** The page that makes a flow. */
export function NewFlow() {
  const { org } = route.useParams();
  return (
    <>
      <PageHead
        title="New flow"
        crumbs={
          <Crumb>
            <Link to="/$org/flows" params={{ org }}>
              Flows
            </Link>
          </Crumb>
        }
      />
      <Form org={org} />
    </>
  );
}
