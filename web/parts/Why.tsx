import { useQuery } from "@tanstack/react-query";

import type { AnswerOf } from "../api/contract.ts";
import { commandPlace } from "../api/place.ts";
import { ask } from "../api/queries.ts";
import { artifactCommand, attestationCommand } from "../domain/commands.ts";
import { byPolicy, outcomes, type PolicyRequirements, ruleWords } from "../domain/requirements.ts";
import { Fold } from "../ui/Layout.tsx";
import { Note } from "../ui/Note.tsx";
import { Time } from "../ui/Time.tsx";
import { Commands } from "./Commands.tsx";
import { Loaded } from "./Loaded.tsx";
import { PageLink } from "./PageLink.tsx";
import { VerdictMark } from "./Verdict.tsx";
import styles from "./Why.module.css";

type Explanation = AnswerOf<"GET /environments/{org}/{env_name}/explain">;
type Artifact = Explanation["artifacts"][number];
type Requirement = Artifact["requirements"][number];
type Remedy = Artifact["proposed_reports"][number];
type Rules = NonNullable<Explanation["rules"]>;

interface WhyProps {
  org: string;
  env: string;
  /** Number of the snapshot. */
  snapshot: number;
  fingerprint: string;
  name: string;
}

function whyQuery({ org, env, snapshot, fingerprint }: WhyProps) {
  return ask("GET /environments/{org}/{env_name}/explain", {
    params: { org, env_name: env },
    query: { snapshot: String(snapshot), fingerprint: [fingerprint], rules: "once" },
  });
}

function Evidence({ requirement }: { requirement: Requirement }) {
  const { attestation, reported_since, html_url, trail_name } = requirement;
  return (
    <span className={styles["evidence"]}>
      {attestation === null ? (
        <PageLink address={html_url}>{trail_name === null ? "" : "Trail"}</PageLink>
      ) : (
        <>
          <PageLink address={attestation.html_url}>
            {attestation.attestation_name}
            {attestation.is_override ? " (override)" : ""}
          </PageLink>{" "}
          <Time at={attestation.reported_at} />
        </>
      )}
      {reported_since === null ? null : (
        <span>
          since then: <PageLink address={reported_since.html_url}>{reported_since.attestation_name}</PageLink>{" "}
          <Time at={reported_since.reported_at} />, which the next report of the environment will count
        </span>
      )}
    </span>
  );
}

function RequirementLine({ requirement, rules }: { requirement: Requirement; rules: Rules }) {
  const { outcome, reason, policy_name, rule_index } = requirement;
  const { verdict, words } = outcomes[outcome];
  const named = rules.find((one) => one.policy_name === policy_name && one.rule_index === rule_index);
  return (
    <li className={styles["requirement"]}>
      <VerdictMark verdict={verdict} words={words} />
      <span>
        <strong>{named === undefined ? `Rule ${rule_index + 1}` : ruleWords(named.rule)}</strong>
        <span className={styles["reason"]}>{reason}</span>
        <Evidence requirement={requirement} />
      </span>
    </li>
  );
}

function PolicyPart({ part, rules }: { part: PolicyRequirements<Requirement>; rules: Rules }) {
  const { policy_name, policy_version, isMet, deciding, idle } = part;
  return (
    <div className={styles["policy"]}>
      <h4>
        {policy_name} <small>version {policy_version}</small>
        {isMet ? null : <VerdictMark verdict="non-compliant" words="Not met" />}
      </h4>
      <ul>
        {deciding.map((requirement) => (
          <RequirementLine
            key={`${requirement.rule_index} ${requirement.flow_name}`}
            requirement={requirement}
            rules={rules}
          />
        ))}
      </ul>
      {idle.length === 0 ? null : (
        <Fold title={`${idle.length} ${idle.length === 1 ? "rule does" : "rules do"} not apply here`}>
          <ul>
            {idle.map((requirement) => (
              <RequirementLine
                key={`${requirement.rule_index} ${requirement.flow_name}`}
                requirement={requirement}
                rules={rules}
              />
            ))}
          </ul>
        </Fold>
      )}
    </div>
  );
}

function AttestationRemedy({ org, remedy }: { org: string; remedy: Remedy }) {
  const { flow_name, trail_name, attestation_name, attestation_type, artifact_fingerprint } = remedy;
  const type = attestation_type === null || attestation_type === "*" ? "" : ` of type ${attestation_type}`;
  const name = attestation_name === null || attestation_name === "*" ? "" : ` ${attestation_name}`;
  return (
    <>
      <p>
        Report a compliant attestation{name}
        {type} of this artifact on trail <b>{trail_name ?? "of the artifact"}</b> of flow{" "}
        <b>{flow_name ?? "it is going to be reported to"}</b>
        {remedy.for_control === null ? "" : `, for control ${remedy.for_control}`}.
      </p>
      <Commands
        label="command that reports the attestation"
        command={attestationCommand(commandPlace(org), {
          flow_name: flow_name ?? "my-flow",
          trail_name: trail_name ?? "1",
          artifact_fingerprint,
          attestation_name: attestation_name ?? "*",
          attestation_type: attestation_type ?? "*",
          for_control: remedy.for_control ?? undefined,
        })}
      />
    </>
  );
}

function RemedyPart({ org, remedy, name, trails }: RemedyPartProps) {
  if (remedy.kind === "attestation") return <AttestationRemedy org={org} remedy={remedy} />;
  if (remedy.kind === "trail") {
    const { flow_name, trail_name, artifact_status } = remedy;
    const trail = trails.find((one) => one.flow_name === flow_name && one.trail_name === trail_name);
    return (
      <p>
        Make trail <PageLink address={trail?.html_url}>{trail_name}</PageLink> of flow <b>{flow_name}</b>{" "}
        compliant for it; it is {artifact_status?.toLowerCase() ?? "not judged"} there. The trail says which
        reports that takes.
      </p>
    );
  }
  return (
    <>
      <p>Report the artifact to the flow that builds it, so that its origin is known.</p>
      <Commands
        label="command that reports the artifact"
        command={artifactCommand(commandPlace(org), {
          flow_name: remedy.flow_name ?? undefined,
          trail_name: remedy.trail_name ?? undefined,
          fingerprint: remedy.artifact_fingerprint,
          filename: name,
        })}
      />
    </>
  );
}

interface RemedyPartProps {
  org: string;
  remedy: Remedy;
  name: string;
  trails: readonly Requirement[];
}

function SmallestFix({ org, artifact }: { org: string; artifact: Artifact }) {
  const { proposed_reports, requirements, artifact_name } = artifact;
  if (proposed_reports.length === 0) return null;
  return (
    <div className={styles["fix"]}>
      <h3>Smallest fix</h3>
      <ol>
        {proposed_reports.map((remedy) => (
          <li
            key={`${remedy.kind} ${remedy.flow_name} ${remedy.attestation_name} ${remedy.attestation_type}`}
          >
            <RemedyPart org={org} remedy={remedy} name={artifact_name} trails={requirements} />
          </li>
        ))}
      </ol>
    </div>
  );
}

const verdicts = { COMPLIANT: "compliant", "NON-COMPLIANT": "non-compliant", UNKNOWN: "unknown" } as const;

function Explained({ org, artifact, rules }: { org: string; artifact: Artifact; rules: Rules }) {
  const parts = byPolicy(artifact.requirements);
  return (
    <div className={styles["why"]}>
      <div className={styles["head"]}>
        <VerdictMark verdict={artifact.allow_listed ? "exempt" : verdicts[artifact.status]} isPill />
        <strong>{artifact.summary}</strong>
      </div>
      <SmallestFix org={org} artifact={artifact} />
      {parts.length === 0 ? null : <h3>What is asked of it</h3>}
      {parts.map((part) => (
        <PolicyPart key={part.policy_name} part={part} rules={rules} />
      ))}
    </div>
  );
}

/** Why an artifact has its verdict in a snapshot, and what would make it compliant. Asked for when it is shown. */
export function Why(props: WhyProps) {
  const query = useQuery({ ...whyQuery(props), enabled: props.fingerprint !== "" });
  if (props.fingerprint === "")
    return (
      <div className={styles["why"]}>
        <Note kind="warn">
          The digest of this artifact is not known, so nothing that was reported can be told to be about it.
          Its reporter needs to be able to read the digest.
        </Note>
      </div>
    );
  return (
    <Loaded query={query} waiting={<div className={styles["waiting"]} aria-busy="true" />}>
      {({ artifacts, rules = [] }) => {
        const artifact = artifacts.find(({ artifact_name }) => artifact_name === props.name) ?? artifacts[0];
        return artifact === undefined ? (
          <div className={styles["why"]}>It did not run in this snapshot, so it was not judged.</div>
        ) : (
          <Explained org={props.org} artifact={artifact} rules={rules} />
        );
      }}
    </Loaded>
  );
}
