import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useRef, useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { policyStart } from "../../domain/policy-rules.ts";
import { SavedMeanwhile, undecided } from "../../parts/ChangedMeanwhile.tsx";
import { Loaded } from "../../parts/Loaded.tsx";
import { LeaveGuard } from "../../parts/LeaveGuard.tsx";
import { Writing, WritingSides } from "../../parts/Writing.tsx";
import { Crumb, PageHead } from "../../shell/PageHead.tsx";
import { Button } from "../../ui/Button.tsx";
import { asText, useWrittenOver } from "../../ui/useWrittenOver.ts";
import { Waiting } from "../../ui/Waiting.tsx";
import { PolicyPreview } from "./PolicyPreview.tsx";
import { useCheck } from "./preview.ts";
import { type editorSearch, type Policy, policyQuery } from "./queries.ts";
import { RuleForm } from "./RuleForm.tsx";
import { SavePolicy } from "./SavePolicy.tsx";

const newRoute = getRouteApi("/$org/policies/-/new");
const editRoute = getRouteApi("/$org/policies/$policy/edit");
type Search = ReturnType<typeof editorSearch>;

const nowhere: readonly string[] = [];

interface EditorProps {
  org: string;
  edited: Policy | undefined;
  search: Search;
  onSearch: (search: Search) => void;
  onSaved: (name: string) => Promise<void>;
}

function AddRule({ text, onWrite }: { text: string; onWrite: (text: string) => void }) {
  const [isAdding, add] = useState(false);
  return (
    <>
      <Button icon="plus" onClick={() => add(true)}>
        Add a rule
      </Button>
      {isAdding ? <RuleForm text={text} onWrite={onWrite} onClose={() => add(false)} /> : null}
    </>
  );
}

function Editor({ org, edited, search, onSearch, onSaved }: EditorProps) {
  const latest = edited?.versions.at(-1);
  const written = useWrittenOver(latest?.policy_yaml ?? policyStart, asText);
  const { draft: text, write, isChanged, overtaken } = written;
  const [isSaving, save] = useState(false);
  const isSaved = useRef(false);
  const check = useCheck(org, text);
  const mayTry = useRefusal(org, "POST /policies/{org}/preview");
  const mayNotSave = useRefusal(org, "PUT /policies/{org}");
  const isUndecided = overtaken === undefined ? undefined : undecided;
  const notYet = check.state === "right" ? isUndecided : "The text has to be without mistakes";
  const isWrong = check.problems.length > 0 ? "The text has mistakes" : undefined;
  const meanwhile = <SavedMeanwhile what={`version ${latest?.version}`} written={written} />;
  return (
    <WritingSides>
      <Writing
        label="Text of the policy, YAML"
        text={text}
        onWrite={write}
        check={check}
        right="A policy without mistakes"
        tools={<AddRule text={text} onWrite={write} />}
        above={isSaving ? null : meanwhile}
      >
        <Button look="primary" icon="check" refused={mayNotSave ?? notYet} onClick={() => save(true)}>
          Save…
        </Button>
      </Writing>
      <PolicyPreview
        org={org}
        text={text}
        isRight={mayTry === undefined && check.state === "right"}
        refused={mayTry ?? isWrong}
        chosen={search.environment ?? []}
        attachedTo={edited?.consuming_envs ?? nowhere}
        period={search.period ?? (edited === undefined ? "now" : "30d")}
        onChange={onSearch}
      />
      <LeaveGuard isChanged={() => isChanged && !isSaved.current} />
      {isSaving ? (
        <SavePolicy
          org={org}
          edited={edited}
          text={text}
          meanwhile={meanwhile}
          refused={isUndecided}
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

function PoliciesCrumb({ org }: { org: string }) {
  return (
    <Crumb>
      <Link to="/$org/policies" params={{ org }}>
        Policies
      </Link>
    </Crumb>
  );
}

/** Writes a policy that is not there yet. */
export function NewPolicy() {
  const { org } = newRoute.useParams();
  const navigate = newRoute.useNavigate();
  return (
    <>
      <PageHead title="New policy" crumbs={<PoliciesCrumb org={org} />} />
      <Editor
        org={org}
        edited={undefined}
        search={newRoute.useSearch()}
        onSearch={(search) => void navigate({ search, replace: true })}
        onSaved={(policy) => navigate({ to: "/$org/policies/$policy", params: { org, policy } })}
      />
    </>
  );
}

/** Writes the next version of a policy. */
export function EditPolicy() {
  const { org, policy: name } = editRoute.useParams();
  const navigate = editRoute.useNavigate();
  const search = editRoute.useSearch();
  const query = useQuery({ ...policyQuery(org, name), refetchOnWindowFocus: false });
  return (
    <>
      <PageHead
        title={`Edit ${name}`}
        crumbs={
          <>
            <PoliciesCrumb org={org} />
            <Crumb>
              <Link to="/$org/policies/$policy" params={{ org, policy: name }}>
                {name}
              </Link>
            </Crumb>
          </>
        }
      />
      <Loaded query={query} waiting={<Waiting size="large" />}>
        {(policy) => (
          <Editor
            org={org}
            edited={policy}
            search={search}
            onSearch={(changed) => void navigate({ search: changed, replace: true })}
            onSaved={() => navigate({ to: "/$org/policies/$policy", params: { org, policy: name } })}
          />
        )}
      </Loaded>
    </>
  );
}
