import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { useAction } from "../../api/action.ts";
import { draftOf, givenType } from "../../domain/type-draft.ts";
import { ActionDialog } from "../../parts/ActionDialog.tsx";
import { Loaded } from "../../parts/Loaded.tsx";
import { Crumb, PageHead } from "../../shell/PageHead.tsx";
import { Button, buttonClass } from "../../ui/Button.tsx";
import { CodeBlock } from "../../ui/Copy.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Card, Facts, Quiet, Stack, Tag } from "../../ui/Layout.tsx";
import { Note } from "../../ui/Note.tsx";
import { Time } from "../../ui/Time.tsx";
import { formOfType } from "./definition.ts";
import { type AttestationType as AttestationTypeAnswer, typeQuery, type TypeVersion } from "./queries.ts";
import { TryType } from "./TryType.tsx";
import styles from "./Types.module.css";
import { TypeVersions } from "./TypeVersions.tsx";

const route = getRouteApi("/$org/attestation-types/$type");

interface DialogProps {
  type: AttestationTypeAnswer;
  onClose: () => void;
}

function ArchiveDialog({ type: { name }, onClose }: DialogProps) {
  const { org } = route.useParams();
  const archive = useAction(
    "PUT /custom-attestation-types/{org}/{custom_attestation_type_name}/archive",
    onClose,
  );
  return (
    <ActionDialog
      title={`Archive ${name}`}
      submit="Archive"
      isDanger
      action={archive}
      input={{ params: { org, custom_attestation_type_name: name } }}
      onClose={onClose}
    >
      <p>It takes no new attestations; what was attested stays. It can be brought back.</p>
    </ActionDialog>
  );
}

/** Posts the latest version again, which takes a type out of the archive. */
function UnarchiveDialog({ type: { name, description, versions }, onClose }: DialogProps) {
  const { org } = route.useParams();
  const [latest] = versions;
  const post = useAction("POST /custom-attestation-types/{org}", onClose);
  // Every type has been posted once.
  if (latest === undefined) return null;
  return (
    <ActionDialog
      title={`Bring ${name} back`}
      submit="Bring it back"
      action={post}
      input={{ params: { org }, body: formOfType(name, draftOf(latest, description)) }}
      onClose={onClose}
    >
      <p>It takes attestations again, which are judged by its latest version.</p>
    </ActionDialog>
  );
}

function Actions({ type }: { type: AttestationTypeAnswer }) {
  const { org } = route.useParams();
  const [isAsked, ask] = useState(false);
  const close = (): void => ask(false);
  const mayNotArchive = useRefusal(
    org,
    "PUT /custom-attestation-types/{org}/{custom_attestation_type_name}/archive",
  );
  const mayNotPost = useRefusal(org, "POST /custom-attestation-types/{org}");
  const Asked = type.archived ? UnarchiveDialog : ArchiveDialog;
  return (
    <>
      <Button refused={type.archived ? mayNotPost : mayNotArchive} onClick={() => ask(true)}>
        {type.archived ? "Bring back" : "Archive"}
      </Button>
      {mayNotPost === undefined ? (
        <Link
          to="/$org/attestation-types/$type/edit"
          params={{ org, type: type.name }}
          className={buttonClass("primary")}
        >
          <Icon name="edit" />
          Edit
        </Link>
      ) : (
        <Button icon="edit" refused={mayNotPost}>
          Edit
        </Button>
      )}
      {isAsked ? <Asked type={type} onClose={close} /> : null}
    </>
  );
}

function Definition({ version: { version, evaluator, type_schema, summary } }: { version: TypeVersion }) {
  const rules = evaluator.content_type === "jq" ? evaluator.rules : [];
  return (
    <>
      <Card title={`Rules of version ${version}`}>
        {rules.length === 0 ? (
          <Quiet>None: {type_schema === null ? "any data comply" : "what fits the schema complies"}.</Quiet>
        ) : (
          <CodeBlock text={rules.join("\n")} label="rules, jq" />
        )}
      </Card>
      <Card title="Summary">
        {summary === null ? (
          <Quiet>None: the data are shown as they are.</Quiet>
        ) : (
          <Facts
            facts={summary.map(({ name, expression }) => [name, <code key={name}>{expression}</code>])}
          />
        )}
      </Card>
      <Card title="Schema">
        {type_schema === null ? (
          <Quiet>None: data may have any form.</Quiet>
        ) : (
          <CodeBlock text={JSON.stringify(type_schema, null, 2)} label="JSON Schema" />
        )}
      </Card>
    </>
  );
}

function Overview({ versions }: { versions: readonly TypeVersion[] }) {
  const { org, type } = route.useParams();
  const { version: asked } = route.useSearch();
  const [latest] = versions;
  const shown = versions.find(({ version }) => version === asked) ?? latest;
  if (shown === undefined) return <Quiet>It has no version.</Quiet>;
  return (
    <Stack>
      {shown.version === latest?.version ? null : (
        <Note>
          This is version {shown.version}, of <Time at={shown.timestamp} />. New attestations are judged by{" "}
          <Link to="/$org/attestation-types/$type" params={{ org, type }}>
            version {latest?.version}
          </Link>
          .
        </Note>
      )}
      <div className={styles["sides"]}>
        <Stack>
          <Definition version={shown} />
        </Stack>
        <TryType key={shown.version} org={org} definition={givenType(draftOf(shown, undefined))} />
      </div>
    </Stack>
  );
}

function About({ type: { archived, description, name } }: { type: AttestationTypeAnswer }) {
  return (
    <>
      {archived ? <Tag>archived</Tag> : null}
      <span>{description ?? "no description"}</span>
      <Quiet>
        reported as <code>custom:{name}</code>
      </Quiet>
    </>
  );
}

/** A type of attestations: what its data have to be, what is shown of them, and what it makes of a sample. */
export function AttestationType() {
  const { org, type } = route.useParams();
  const { tab } = route.useSearch();
  const query = useQuery(typeQuery(org, type));
  const data = query.data !== undefined && "created_by" in query.data ? query.data : undefined;
  const parts = [
    [undefined, "Overview"],
    ["versions", `Versions${data === undefined ? "" : ` ${data.versions.length}`}`],
  ] as const;
  return (
    <>
      <PageHead
        title={type}
        crumbs={
          <Crumb>
            <Link to="/$org/attestation-types" params={{ org }}>
              Attestation types
            </Link>
          </Crumb>
        }
        about={data === undefined ? <span>&nbsp;</span> : <About type={data} />}
        actions={
          data === undefined ? null : (
            <>
              <Link
                to="/$org/attestations"
                params={{ org }}
                search={{ type: `custom:${type}` }}
                className={buttonClass("quiet")}
              >
                Its attestations
              </Link>
              <Actions type={data} />
            </>
          )
        }
        tabs={parts.map(([part, words]) => (
          <Link
            key={words}
            to="/$org/attestation-types/$type"
            params={{ org, type }}
            search={{ tab: part }}
            activeOptions={{ exact: true }}
            aria-current={part === tab ? "page" : undefined}
          >
            {words}
          </Link>
        ))}
      />
      <Loaded query={query} waiting={<div className={styles["room"]} aria-busy="true" />}>
        {({ versions }) =>
          tab === "versions" ? <TypeVersions versions={versions} /> : <Overview versions={versions} />
        }
      </Loaded>
    </>
  );
}
