import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useRef, useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { ApiError } from "../../api/errors.ts";
import {
  definitionText,
  draftOf,
  givenType,
  lackingIn,
  mistakesIn,
  type TypeDraft,
  typeStart,
} from "../../domain/type-draft.ts";
import { SavedMeanwhile, undecided } from "../../parts/ChangedMeanwhile.tsx";
import { Loaded } from "../../parts/Loaded.tsx";
import { LeaveGuard } from "../../parts/LeaveGuard.tsx";
import { type Check, CheckLine, checkPauseMs, WritingSides } from "../../parts/Writing.tsx";
import { Crumb, PageHead } from "../../shell/PageHead.tsx";
import { Button } from "../../ui/Button.tsx";
import { ErrorNote } from "../../ui/ErrorNote.tsx";
import { Field } from "../../ui/Field.tsx";
import { Card, Quiet, Stack } from "../../ui/Layout.tsx";
import { useSettled } from "../../ui/useSettled.ts";
import { useWrittenOver } from "../../ui/useWrittenOver.ts";
import { trialQuery } from "./definition.ts";
import { type AttestationType, typeQuery } from "./queries.ts";
import { SaveType } from "./SaveType.tsx";
import { TryType } from "./TryType.tsx";
import { type PartProps, RulesField, SchemaField, SummaryField } from "./TypeFields.tsx";
import styles from "./Types.module.css";

const newRoute = getRouteApi("/$org/attestation-types/-/new");
const editRoute = getRouteApi("/$org/attestation-types/$type/edit");

/** Data that every definition is tried on, for what is wrong with it. */
const noData = {};

/** Checks a draft a moment after it was last changed. Until then the mistakes that were found stay. */
function useDraftCheck(org: string, draft: TypeDraft) {
  const settled = useSettled(draft, checkPauseMs);
  const lacking = lackingIn(settled);
  const refused = useRefusal(org, "POST /custom-attestation-types/{org}/try");
  const { data, error } = useQuery({
    ...trialQuery(org, givenType(settled), noData),
    enabled: lacking === undefined && refused === undefined,
  });
  const isRefused = error instanceof ApiError && error.status === 400;
  const mistakes = mistakesIn(settled, isRefused ? error.errors : {});
  const count = mistakes.schema.length + mistakes.rules.size + mistakes.summary.size;
  const isRight = draft === settled && lacking === undefined && data !== undefined && !isRefused;
  const state: Check["state"] =
    count > 0 || isRefused ? "wrong" : isRight ? "right" : error === null ? "checking" : "failed";
  return { state, count, mistakes, error: error !== null && count === 0 ? error : undefined };
}

function Parts(part: PartProps) {
  return (
    <>
      <Card>
        <Field label="Description" hint="What the data say, for those who choose among types.">
          {(tie) => (
            <input
              {...tie}
              autoComplete="off"
              value={part.draft.description}
              onChange={(event) => part.onChange({ description: event.target.value })}
            />
          )}
        </Field>
      </Card>
      <RulesField {...part} />
      <SummaryField {...part} />
      <SchemaField {...part} />
    </>
  );
}

interface EditorProps {
  org: string;
  /** What is edited; undefined for a new one. */
  edited: AttestationType | undefined;
  onSaved: (name: string) => Promise<void>;
}

function Editor({ org, edited, onSaved }: EditorProps) {
  const [latest] = edited?.versions ?? [];
  const kept = latest === undefined ? typeStart : draftOf(latest, edited?.description);
  const written = useWrittenOver(kept, definitionText);
  const { draft, write, isChanged, overtaken } = written;
  const [isSaving, save] = useState(false);
  const isSaved = useRef(false);
  const { state, count, mistakes, error } = useDraftCheck(org, draft);
  const mayNotSave = useRefusal(org, "POST /custom-attestation-types/{org}");
  const lacking = lackingIn(draft);
  const isSame = edited !== undefined && !isChanged ? "Nothing was changed" : undefined;
  const isUndecided = overtaken === undefined ? undefined : undecided;
  const notYet = lacking ?? (state === "right" ? (isSame ?? isUndecided) : "It has to be without mistakes");
  const meanwhile = <SavedMeanwhile what={`version ${latest?.version}`} written={written} />;
  return (
    <WritingSides>
      <Stack>
        <Parts draft={draft} mistakes={mistakes} onChange={(change) => write({ ...draft, ...change })} />
        {isSaving ? null : meanwhile}
        {error === undefined ? null : <ErrorNote failure={error} />}
        <div className={styles["foot"]}>
          {count === 0 && lacking !== undefined ? (
            <Quiet>{lacking}</Quiet>
          ) : (
            <CheckLine state={state} count={count} right="A definition without mistakes" />
          )}
          <Button look="primary" icon="check" refused={mayNotSave ?? notYet} onClick={() => save(true)}>
            Save…
          </Button>
        </div>
      </Stack>
      <TryType org={org} definition={givenType(draft)} lacking={lacking} />
      <LeaveGuard isChanged={() => isChanged && !isSaved.current} />
      {isSaving ? (
        <SaveType
          org={org}
          edited={edited}
          draft={draft}
          meanwhile={meanwhile}
          refused={isSame ?? isUndecided}
          onSaved={(name) => {
            isSaved.current = true;
            return onSaved(name);
          }}
          onClose={() => save(false)}
        />
      ) : null}
    </WritingSides>
  );
}

function TypesCrumb({ org }: { org: string }) {
  return (
    <Crumb>
      <Link to="/$org/attestation-types" params={{ org }}>
        Attestation types
      </Link>
    </Crumb>
  );
}

/** Writes a type of attestations that is not there yet. */
export function NewType() {
  const { org } = newRoute.useParams();
  const navigate = newRoute.useNavigate();
  return (
    <>
      <PageHead title="New attestation type" crumbs={<TypesCrumb org={org} />} />
      <Editor
        org={org}
        edited={undefined}
        onSaved={(type) => navigate({ to: "/$org/attestation-types/$type", params: { org, type } })}
      />
    </>
  );
}

/** Writes the next version of a type. */
export function EditType() {
  const { org, type } = editRoute.useParams();
  const navigate = editRoute.useNavigate();
  const query = useQuery({ ...typeQuery(org, type), refetchOnWindowFocus: false });
  return (
    <>
      <PageHead
        title={`Edit ${type}`}
        crumbs={
          <>
            <TypesCrumb org={org} />
            <Crumb>
              <Link to="/$org/attestation-types/$type" params={{ org, type }}>
                {type}
              </Link>
            </Crumb>
          </>
        }
      />
      <Loaded query={query} waiting={<div className={styles["room"]} aria-busy="true" />}>
        {(edited) =>
          "created_by" in edited ? (
            <Editor
              org={org}
              edited={edited}
              onSaved={() => navigate({ to: "/$org/attestation-types/$type", params: { org, type } })}
            />
          ) : null
        }
      </Loaded>
    </>
  );
}
