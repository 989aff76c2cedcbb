import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";

import type { AnswerOf } from "../../api/contract.ts";
import { shortWords } from "../../domain/provenance.ts";
import { verdictOfFlag, verdictOfText } from "../../domain/verdict.ts";
import { AuditMenu } from "../../parts/AuditMenu.tsx";
import { ForeignLink } from "../../parts/ForeignLink.tsx";
import { Loaded } from "../../parts/Loaded.tsx";
import { PageLink } from "../../parts/PageLink.tsx";
import { ArtifactLink, FlowLink, TrailLink } from "../../parts/ProcessLinks.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { PageHead } from "../../shell/PageHead.tsx";
import { Copy } from "../../ui/Copy.tsx";
import { Empty } from "../../ui/Empty.tsx";
import { Card, Quiet, Stack, Tag } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import styles from "./Artifacts.module.css";
import { Flows } from "./Flows.tsx";
import { commitAttestationsQuery, type Found, foundQuery, isNothing } from "./queries.ts";
import { PictureRoom } from "./PictureRoom.tsx";

type Attestation = AnswerOf<"GET /attestations/{org}/list_attestations_for_criteria">[string][number];

const route = getRouteApi("/$org/commits/$sha");

/** Where builds of the commit run now, each environment once. */
function Environments({ artifacts }: { artifacts: Found["artifacts"] }) {
  const { org } = route.useParams();
  const running = [...new Set(artifacts.flatMap(({ running_in }) => running_in))].toSorted();
  const ran = [...new Set(artifacts.flatMap(({ exited_from }) => exited_from))]
    .filter((name) => !running.includes(name))
    .toSorted();
  return (
    <Card title="Where it runs">
      {running.length === 0 ? (
        <p className={styles["quiet"]}>
          {artifacts.length === 0 ? "Nothing was built from it." : "None of its builds runs anywhere now."}
        </p>
      ) : (
        <p className={styles["names"]}>
          {running.map((env) => (
            <Link key={env} to="/$org/environments/$env" params={{ org, env }}>
              <Tag>{env}</Tag>
            </Link>
          ))}
        </p>
      )}
      {ran.length === 0 ? null : (
        <p className={`${styles["names"]} ${styles["quiet"]}`}>
          It ran in
          {ran.map((env) => (
            <Link key={env} to="/$org/environments/$env" params={{ org, env }}>
              {env}
            </Link>
          ))}
        </p>
      )}
    </Card>
  );
}

function attestationColumns(org: string): Column<Attestation>[] {
  return [
    {
      key: "verdict",
      head: "Verdict",
      width: "142px",
      cell: ({ is_compliant }) => <VerdictMark verdict={verdictOfFlag(is_compliant)} />,
    },
    {
      key: "name",
      head: "Name",
      cell: ({ attestation_name, attestation_type, html_url }) => (
        <>
          <PageLink address={html_url}>{attestation_name}</PageLink> <Quiet isSmall>{attestation_type}</Quiet>
        </>
      ),
    },
    {
      key: "of",
      head: "Of",
      isOptional: true,
      cell: ({ artifact_fingerprint: fingerprint, flow_name }) =>
        fingerprint === null ? (
          "the trail"
        ) : (
          <ArtifactLink org={org} flow={flow_name} fingerprint={fingerprint} name={shortWords(fingerprint)} />
        ),
    },
    {
      key: "flow",
      head: "Flow and trail",
      isOptional: true,
      cell: ({ flow_name, trail_name }) => (
        <>
          <FlowLink org={org} flow={flow_name} /> /{" "}
          <TrailLink org={org} flow={flow_name} trail={trail_name} />
        </>
      ),
    },
    { key: "when", head: "Reported", width: "112px", cell: ({ created_at }) => <Time at={created_at} /> },
  ];
}

function Evidence({ sha }: { sha: string }) {
  const { org } = route.useParams();
  const query = useQuery(commitAttestationsQuery(org, sha));
  return (
    <Card title="Attestations that name this commit">
      <Loaded query={query} waiting={<div className={styles["waiting"]} aria-busy="true" />}>
        {(answer) => {
          const attestations = (answer[sha] ?? []).toReversed();
          if (attestations.length === 0)
            return <p className={styles["quiet"]}>No attestation names this commit.</p>;
          return (
            <Table
              label="Attestations"
              rows={attestations}
              rowKey={({ attestation_id }) => attestation_id}
              columns={attestationColumns(org)}
            />
          );
        }}
      </Loaded>
    </Card>
  );
}

interface BuildTrail {
  flow: string;
  trail: string;
  /** Of what was built from the commit on it. */
  states: string[];
}

/** Gathers the trails that a commit's builds were reported on, each once. */
function trailsOf(builds: Found["artifacts"]): BuildTrail[] {
  const trails = new Map<string, BuildTrail>();
  for (const { flow, trail, compliance_state } of builds) {
    if (flow === "") continue;
    const key = `${flow}/${trail}`;
    const known = trails.get(key) ?? { flow, trail, states: [] };
    known.states.push(compliance_state);
    trails.set(key, known);
  }
  return [...trails.values()];
}

const worstFirst = ["NON-COMPLIANT", "INCOMPLETE", "COMPLIANT"];

/** The trails of a commit's builds. Most evidence names no commit: it stands there. */
function Trails({ builds }: { builds: Found["artifacts"] }) {
  const { org } = route.useParams();
  const trails = trailsOf(builds);
  if (trails.length === 0) return null;
  return (
    <Card title="Trails of its builds">
      <Stack>
        <p className={styles["quiet"]}>All evidence stands there, also what names no commit.</p>
        <Table
          label="Trails of its builds"
          rows={trails}
          rowKey={({ flow, trail }) => `${flow}/${trail}`}
          columns={[
            {
              key: "state",
              head: "Its artifacts",
              width: "142px",
              cell: ({ states }) => (
                <VerdictMark
                  verdict={verdictOfText(worstFirst.find((state) => states.includes(state)) ?? "")}
                />
              ),
            },
            {
              key: "trail",
              head: "Flow and trail",
              cell: ({ flow, trail }) => (
                <>
                  <FlowLink org={org} flow={flow} /> / <TrailLink org={org} flow={flow} trail={trail} />
                </>
              ),
            },
          ]}
        />
      </Stack>
    </Card>
  );
}

function Several({ matches, count }: { matches: readonly string[]; count: number }) {
  const { org } = route.useParams();
  return (
    <Card title={`${count} commits begin like that`}>
      <ul className={styles["history"]}>
        {matches.map((sha) => (
          <li key={sha}>
            <Link to="/$org/commits/$sha" params={{ org, sha }}>
              <code>{sha}</code>
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Matter({ found }: { found: Found }) {
  const { org, sha } = route.useParams();
  const { artifacts, resolved_to } = found;
  const { matches, count } = resolved_to.commits;
  if (count > 1) return <Several matches={matches} count={count} />;
  const whole = matches[0] ?? sha;
  const builds = artifacts.filter(({ git_commit }) => git_commit === whole).toReversed();
  return (
    <Stack>
      <Environments artifacts={builds} />
      <Flows org={org} title="What was built from it" artifacts={builds} />
      <Trails builds={builds} />
      <Evidence sha={whole} />
    </Stack>
  );
}

function About({ found }: { found: Found | undefined }) {
  const { sha } = route.useParams();
  const whole = found?.resolved_to.commits.matches[0] ?? sha;
  const url = found?.artifacts.find(({ commit_url }) => commit_url !== "")?.commit_url;
  return (
    <>
      <Copy text={whole} shown={whole} what="commit" />
      {url === undefined ? null : (
        <span>
          code on <ForeignLink address={url} />
        </span>
      )}
    </>
  );
}

/** A commit: what was built from it, the trails with the evidence for that, and where it runs. */
export function Commit() {
  const { org, sha } = route.useParams();
  const query = useQuery(foundQuery(org, sha));
  return (
    <>
      <PageHead
        title={`Commit ${shortWords(sha)}`}
        whole={`Commit ${sha}`}
        about={<About found={query.data} />}
        actions={<AuditMenu downloads={[]} />}
      />
      {isNothing(query.error) ? (
        <Stack>
          <Empty title="Nothing was built from this commit" text="No flow has reported a build of it." />
          {sha.length === 40 ? <Evidence sha={sha} /> : null}
        </Stack>
      ) : (
        <Loaded query={query} waiting={<PictureRoom />}>
          {(found) => <Matter found={found} />}
        </Loaded>
      )}
    </>
  );
}
