import type { AnswerOf } from "../../api/contract.ts";
import { inTemplateOrder, outcomes } from "../../domain/requirements.ts";
import { PageLink } from "../../parts/PageLink.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Quiet, Tag } from "../../ui/Layout.tsx";
import { Time } from "../../ui/Time.tsx";
import styles from "./Trails.module.css";

type Requirement = AnswerOf<"GET /trails/{org}/{flow_name}/{trail_name}/explain">["requirements"][number];

function Line({ requirement }: { requirement: Requirement }) {
  const { kind, attestation_name, attestation_type, attestation, artifact, outcome, reason } = requirement;
  const { verdict, words } = outcomes[outcome];
  const at = attestation?.reported_at ?? artifact?.reported_at;
  return (
    <li>
      <VerdictMark verdict={verdict} words={words} isBare />
      <span className={styles["asked"]}>
        <PageLink address={attestation?.html_url}>
          {kind === "artifact" ? "the artifact itself" : attestation_name}
        </PageLink>
        {attestation_type === null || attestation_type === "*" ? null : (
          <Quiet isSmall>{attestation_type}</Quiet>
        )}
        {attestation?.is_override === true ? <Tag>override</Tag> : null}
        {outcome === "met" ? null : <span data-verdict={verdict}>{reason}</span>}
      </span>
      {at === undefined ? <Quiet isSmall>not reported</Quiet> : <Time at={at} />}
    </li>
  );
}

/** What a trail needs, in the order of its template, each thing with whether it is there; then what came unasked. */
export function Checklist({ requirements }: { requirements: readonly Requirement[] }) {
  return (
    <div className={styles["checklist"]}>
      {inTemplateOrder(requirements).map(({ artifact, isAsked, requirements: group }) => (
        <section key={`${artifact} ${isAsked}`}>
          <h3>
            {artifact === null ? "The trail" : artifact}
            {isAsked ? null : <Quiet isSmall> not asked for, but what fails counts</Quiet>}
          </h3>
          <ul>
            {group.map((requirement) => (
              <Line key={`${requirement.kind} ${requirement.attestation_name}`} requirement={requirement} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}
