import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useRef, useState } from "react";

import { organizationsQuery, useRefusal } from "../../api/account.ts";
import { SavedMeanwhile, undecided } from "../../parts/ChangedMeanwhile.tsx";
import { Loaded } from "../../parts/Loaded.tsx";
import { LeaveGuard } from "../../parts/LeaveGuard.tsx";
import { Writing, WritingSides } from "../../parts/Writing.tsx";
import { Button } from "../../ui/Button.tsx";
import { CodeBlock } from "../../ui/Copy.tsx";
import { Quiet, Stack } from "../../ui/Layout.tsx";
import { Note } from "../../ui/Note.tsx";
import { asText, useWrittenOver } from "../../ui/useWrittenOver.ts";
import { FlowHead } from "./FlowHead.tsx";
import styles from "./Flows.module.css";
import { type Flow, flowQuery } from "./queries.ts";
import { SaveTemplate } from "./SaveTemplate.tsx";
import { useKeptTemplate, useTemplate } from "./template.ts";
import { TemplatePreview } from "./TemplatePreview.tsx";

const route = getRouteApi("/$org/flows/$flow/template");

function Editor({ org, flow }: { org: string; flow: Flow }) {
  const written = useWrittenOver(flow.template, asText);
  const { draft: text, write, isChanged, overtaken } = written;
  const [isSaving, save] = useState(false);
  const isSaved = useRef(false);
  const { check, template, isOld } = useTemplate(org, text);
  const kept = useKeptTemplate(org, flow.template);
  const mayNotSave = useRefusal(org, "PUT /flows/{org}/template_file");
  const isSame = isChanged ? undefined : "Nothing was changed";
  const isUndecided = overtaken === undefined ? undefined : undecided;
  const notYet = check.state === "right" ? (isSame ?? isUndecided) : "The text has to be without mistakes";
  const meanwhile = <SavedMeanwhile what="this template" written={written} />;
  return (
    <WritingSides>
      <Writing
        label="Template, YAML"
        text={text}
        onWrite={(changed) => {
          isSaved.current = false;
          write(changed);
        }}
        check={check}
        right="A template without mistakes"
        above={isSaving ? null : meanwhile}
        tools={
          isChanged ? (
            <Button look="quiet" onClick={() => write(flow.template)}>
              Take back all changes
            </Button>
          ) : null
        }
      >
        <Button look="primary" icon="check" refused={mayNotSave ?? notYet} onClick={() => save(true)}>
          Save…
        </Button>
      </Writing>
      <TemplatePreview template={template} kept={kept} isOld={isOld} />
      <LeaveGuard isChanged={() => isChanged && !isSaved.current} />
      {isSaving ? (
        <SaveTemplate
          org={org}
          flow={flow}
          text={text}
          meanwhile={meanwhile}
          refused={isUndecided}
          onSaved={() => {
            isSaved.current = true;
            save(false);
          }}
          onClose={() => save(false)}
        />
      ) : null}
    </WritingSides>
  );
}

/** The text alone, for those who may not check and not change it. */
function ReadOnly({ flow, refused }: { flow: Flow; refused: string }) {
  return (
    <Stack>
      <Note>It can be read here. {refused}.</Note>
      {flow.template === "" ? (
        <Quiet>It has no text: nothing is asked for.</Quiet>
      ) : (
        <CodeBlock text={flow.template} label="template" />
      )}
      <div>
        <Button refused={refused}>Save…</Button>
      </div>
    </Stack>
  );
}

function Shown({ org, flow }: { org: string; flow: Flow }) {
  const refused = useRefusal(org, "POST /flows/{org}/template/check");
  // Until then it is not known what the caller may do.
  const { isPending } = useQuery(organizationsQuery);
  if (isPending) return <div className={styles["room"]} aria-busy="true" />;
  if (refused !== undefined) return <ReadOnly flow={flow} refused={refused} />;
  return <Editor org={org} flow={flow} />;
}

/** The template of a flow: which evidence its trails need. */
export function FlowTemplate() {
  const { org, flow } = route.useParams();
  const query = useQuery({ ...flowQuery(org, flow), refetchOnWindowFocus: false });
  return (
    <>
      <FlowHead org={org} flow={flow} current="/$org/flows/$flow/template" />
      <Loaded query={query} waiting={<div className={styles["room"]} aria-busy="true" />}>
        {(found) => <Shown org={org} flow={found} />}
      </Loaded>
    </>
  );
}
