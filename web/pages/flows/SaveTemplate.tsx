import type { ReactNode } from "react";

import { useAction } from "../../api/action.ts";
import { ActionDialog, wrongField } from "../../parts/ActionDialog.tsx";
import { Field } from "../../ui/Field.tsx";
import { Note } from "../../ui/Note.tsx";
import { TextDiff } from "../../ui/TextDiff.tsx";
import { useWritten } from "../../ui/useWritten.ts";
import type { Flow } from "./queries.ts";
import { flowForm } from "./template.ts";

interface SaveTemplateProps {
  org: string;
  flow: Flow;
  text: string;
  /** What somebody else has saved meanwhile. */
  meanwhile: ReactNode;
  /** Why it cannot be saved yet. */
  refused: string | undefined;
  onSaved: () => void;
  onClose: () => void;
}

/** Shows what a template changes, says for which trails, and keeps it. */
export function SaveTemplate({ org, flow, text, meanwhile, refused, onSaved, onClose }: SaveTemplateProps) {
  const [description, describe] = useWritten(flow.description);
  const save = useAction("PUT /flows/{org}/template_file", onSaved);
  return (
    <ActionDialog
      title={`Save the template of ${flow.name}`}
      submit="Save the template"
      action={save}
      isWide
      refused={refused}
      input={{ params: { org }, body: flowForm({ ...flow, description }, text) }}
      onClose={onClose}
    >
      <Field label="Description of the flow" wrong={wrongField(save.error, "description")}>
        {(tie) => <input {...tie} value={description} onChange={(event) => describe(event.target.value)} />}
      </Field>
      {meanwhile}
      <Note>
        Trails that begin from now on need what it asks for. Those that have begun keep the template they
        began with.
      </Note>
      <TextDiff before={flow.template} after={text} label="What changes" />
    </ActionDialog>
  );
}
