import { duration } from "../../domain/times.ts";
import { verdictOfText } from "../../domain/verdict.ts";
import { Commit } from "../../parts/Commit.tsx";
import { ForeignLink } from "../../parts/ForeignLink.tsx";
import { PageLink } from "../../parts/PageLink.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Facts, Fold, Quiet } from "../../ui/Layout.tsx";
import { Time } from "../../ui/Time.tsx";
import styles from "./Environments.module.css";
import type { ArtifactRow } from "./rows.ts";

type Details = NonNullable<ArtifactRow["details"]>;

/** More pods than these are folded away. */
const fewPods = 4;

function Pods({ pods }: { pods: NonNullable<Details["pods"]> }) {
  const all = Object.entries(pods);
  const list = (
    <ul className={styles["pods"]}>
      {all.map(([name, { namespace, creationTimestamp }]) => (
        <li key={name}>
          <code>{name}</code>
          <Quiet isSmall>
            in {namespace}, since <Time at={creationTimestamp} />
          </Quiet>
        </li>
      ))}
    </ul>
  );
  return all.length > fewPods ? <Fold title={`${all.length} pods`}>{list}</Fold> : list;
}

/** Says how many run, and since when. */
function Instances({ starts }: { starts: Details["creationTimestamp"] }) {
  const [first, last] = [starts[0], starts.at(-1)];
  return (
    <span>
      {starts.length}, {last === first ? "" : "the oldest "}since <Time at={first} />
      {last === first ? null : (
        <>
          , the newest since <Time at={last} />
        </>
      )}
    </span>
  );
}

function Replaced({ diff }: { diff: NonNullable<Details["deployment_diff"]> }) {
  return (
    <span className={styles["inLine"]}>
      {diff.previous_artifact_name}
      {diff.previous_artifact_compliance_state === null ? null : (
        <VerdictMark verdict={verdictOfText(diff.previous_artifact_compliance_state)} />
      )}
      {diff.previous_running ? <Quiet isSmall>which runs, too</Quiet> : null}
      {diff.diff_url === null ? null : <ForeignLink address={diff.diff_url}>what changed</ForeignLink>}
    </span>
  );
}

function Code({ details }: { details: Details }) {
  const info = details.flows[0]?.git_commit_info;
  if (details.git_commit === null) return null;
  return (
    <span className={styles["inLine"]}>
      <Commit sha={details.git_commit} url={details.commit_url} />
      {info === null || info === undefined ? null : (
        <span>
          {info.message.split("\n")[0]}
          <Quiet isSmall>
            {" "}
            by {info.author}
            {info.branch === null ? "" : ` on ${info.branch}`}
          </Quiet>
        </span>
      )}
    </span>
  );
}

function OtherFlows({ flows }: { flows: Details["flows"] }) {
  return (
    <span className={styles["inLine"]}>
      {flows.map(({ flow_name, html_url }) => (
        <PageLink key={flow_name} address={html_url}>
          {flow_name}
        </PageLink>
      ))}
    </span>
  );
}

/** What a snapshot knows of an artifact beside its verdict: what it took the place of, its code, its instances. */
export function ArtifactDetails({ details }: { details: Details }) {
  const { deployment_diff: diff, commit_lead_time: lead, creationTimestamp: starts, pods, flows } = details;
  const replaced = diff === null ? undefined : <Replaced diff={diff} />;
  const code = details.git_commit === null ? undefined : <Code details={details} />;
  const leadWords = lead === null ? undefined : `${duration(lead)} from the commit to its first start`;
  const instances = starts.length === 0 ? undefined : <Instances starts={starts} />;
  const podList = pods === null ? undefined : <Pods pods={pods} />;
  const others = flows.length < 2 ? undefined : <OtherFlows flows={flows.slice(1)} />;
  return (
    <div className={styles["details"]}>
      <Facts
        facts={[
          ["Took the place of", replaced],
          ["Commit", code],
          ["Lead time", leadWords],
          ["Instances", instances],
          ["Pods", podList],
          ["Known as well to", others],
        ]}
      />
    </div>
  );
}
