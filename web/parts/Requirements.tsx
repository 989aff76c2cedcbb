import type { AnswerOf } from "../api/contract.ts";
import { commandPlace } from "../api/place.ts";
import { artifactCommand, attestationCommand, sampleCommit, sampleFingerprint } from "../domain/commands.ts";
import { outcomes } from "../domain/requirements.ts";
import { Quiet } from "../ui/Layout.tsx";
import { type Column, Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { Commands } from "./Commands.tsx";
import { PageLink } from "./PageLink.tsx";
import styles from "./Requirements.module.css";
import { VerdictMark } from "./Verdict.tsx";

type Explanation = AnswerOf<"GET /trails/{org}/{flow_name}/{trail_name}/explain">;
type Requirement = Explanation["requirements"][number];
type Remedy = Explanation["proposed_reports"][number];

function Name({ requirement }: { requirement: Requirement }) {
  const { attestation_name, artifact_name, attestation, outcome, reason, template_path } = requirement;
  return (
    <>
      <PageLink address={attestation?.html_url} className={styles["name"]}>
        {attestation_name ?? artifact_name ?? "artifact"}
      </PageLink>
      {template_path === null ? <Quiet isSmall> not asked for, counts too</Quiet> : null}
      {outcome === "met" ? null : <span className={styles["reason"]}>{reason}</span>}
    </>
  );
}

const typeWords = (type: string | null): string => (type === null || type === "*" ? "any" : type);

const columns: readonly Column<Requirement>[] = [
  {
    key: "outcome",
    head: "Outcome",
    width: "130px",
    cell: ({ outcome }) => (
      <VerdictMark verdict={outcomes[outcome].verdict} words={outcomes[outcome].words} />
    ),
  },
  { key: "name", head: "Asked for", cell: (requirement) => <Name requirement={requirement} /> },
  {
    key: "type",
    head: "Type",
    width: "150px",
    isOptional: true,
    cell: ({ kind, attestation_type }) => (kind === "artifact" ? "artifact" : typeWords(attestation_type)),
  },
  {
    key: "of",
    head: "Of",
    width: "150px",
    isOptional: true,
    cell: ({ artifact_name }) => (artifact_name === null ? "the trail" : artifact_name),
  },
  {
    key: "reported",
    head: "Reported",
    width: "150px",
    isOptional: true,
    cell: ({ attestation, artifact }) =>
      attestation === null && artifact === null ? (
        <Quiet>never</Quiet>
      ) : (
        <>
          <Time at={attestation?.reported_at ?? artifact?.reported_at} />
          {attestation?.is_override === true ? <Quiet isSmall> override</Quiet> : null}
        </>
      ),
  },
];

/** What a verdict rests on: everything asked for and everything reported, with what decides on each. */
export function Requirements({ requirements }: { requirements: readonly Requirement[] }) {
  return (
    <Table
      label="What is asked for, and what was reported"
      columns={columns}
      rows={requirements}
      rowKey={({ kind, artifact_name, attestation_name }, index) =>
        `${kind} ${artifact_name} ${attestation_name} ${index}`
      }
    />
  );
}

interface RemediesProps {
  org: string;
  flow_name: string;
  trail_name: string;
  proposed_reports: readonly Remedy[];
}

interface PartProps extends Omit<RemediesProps, "proposed_reports"> {
  remedy: Remedy;
  /** With which the artifact was reported, or is going to be. */
  commit: string;
}

function ArtifactPart({ org, flow_name, trail_name, remedy: { artifact_name }, commit }: PartProps) {
  return (
    <>
      <p>
        Report the artifact <b>{artifact_name}</b> on this trail.
      </p>
      <Commands
        label={`command that reports artifact ${artifact_name}`}
        command={artifactCommand(commandPlace(org), {
          flow_name,
          trail_name,
          fingerprint: sampleFingerprint,
          filename: artifact_name ?? "artifact",
          template_reference_name: artifact_name ?? undefined,
          git_commit: commit,
        })}
      />
    </>
  );
}

function AttestationPart({ org, flow_name, trail_name, remedy, commit }: PartProps) {
  const { artifact_name, artifact_fingerprint, attestation_name, attestation_type } = remedy;
  const isWaiting = artifact_name !== null && artifact_fingerprint === null;
  return (
    <>
      <p>
        Report a compliant attestation <b>{attestation_name}</b>
        {typeWords(attestation_type) === "any" ? "" : ` of type ${attestation_type}`} of{" "}
        {artifact_name === null ? "the trail" : artifact_name}
        {remedy.replaces_attestation_id === null ? "" : ", in place of the one that failed"}.
      </p>
      <Commands
        label={`command that reports attestation ${attestation_name}${artifact_name === null ? "" : ` of ${artifact_name}`}`}
        command={attestationCommand(commandPlace(org), {
          flow_name,
          trail_name,
          artifact_fingerprint: artifact_fingerprint ?? undefined,
          target: isWaiting ? { artifact_name, git_commit: commit } : undefined,
          attestation_name: attestation_name ?? "*",
          attestation_type: attestation_type ?? "*",
        })}
      />
    </>
  );
}

/** The commit that an artifact is reported with, which what waits for it has to name: the same for all reports about it. */
function commitOf(remedy: Remedy, all: readonly Remedy[]): string {
  const artifact = all.find(
    ({ kind, artifact_name }) => kind === "artifact" && artifact_name === remedy.artifact_name,
  );
  return remedy.git_commit ?? artifact?.git_commit ?? sampleCommit;
}

/** As few reports as make something compliant, as commands; nothing when it is. */
export function SmallestFix({ proposed_reports, ...place }: RemediesProps) {
  if (proposed_reports.length === 0) return null;
  return (
    <section className={styles["fix"]} aria-label="Smallest fix">
      <h3>Smallest fix</h3>
      <ol>
        {proposed_reports.map((remedy) => {
          const { kind, artifact_name, attestation_name, attestation_type } = remedy;
          const Part = kind === "artifact" ? ArtifactPart : AttestationPart;
          return (
            <li key={`${kind} ${artifact_name} ${attestation_name} ${attestation_type}`}>
              <Part {...place} remedy={remedy} commit={commitOf(remedy, proposed_reports)} />
            </li>
          );
        })}
      </ol>
    </section>
  );
}
