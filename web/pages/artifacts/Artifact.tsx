import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";

import { addressOf } from "../../api/client.ts";
import { parameterOf } from "../../domain/links.ts";
import { shortWords } from "../../domain/provenance.ts";
import { verdictOfText } from "../../domain/verdict.ts";
import { AuditMenu } from "../../parts/AuditMenu.tsx";
import { Commit } from "../../parts/Commit.tsx";
import { Fingerprint } from "../../parts/Fingerprint.tsx";
import { ForeignLink } from "../../parts/ForeignLink.tsx";
import { BelowLoaded, FailedToRead, Loaded } from "../../parts/Loaded.tsx";
import { CommitLink, FlowLink, TrailLink } from "../../parts/ProcessLinks.tsx";
import { Requirements, SmallestFix } from "../../parts/Requirements.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Crumb, PageHead } from "../../shell/PageHead.tsx";
import { Button } from "../../ui/Button.tsx";
import { Card, Facts, Fold, Stack, Tag } from "../../ui/Layout.tsx";
import { Note } from "../../ui/Note.tsx";
import { Time } from "../../ui/Time.tsx";
import styles from "./Artifacts.module.css";
import { CheckDialog } from "./CheckDialog.tsx";
import { Flows } from "./Flows.tsx";
import {
  type Artifact as ArtifactAnswer,
  artifactQuery,
  type ArtifactSearch,
  explanationQuery,
  type Found,
  foundQuery,
} from "./queries.ts";
import { Places } from "./Places.tsx";
import { Provenance } from "./Provenance.tsx";
import { PictureRoom } from "./PictureRoom.tsx";

const route = getRouteApi("/$org/flows/$flow/artifacts/$fingerprint");

function useReport() {
  const { org, flow, fingerprint } = route.useParams();
  const { trail, artifact_id } = route.useSearch();
  return { org, flow, fingerprint, trail, artifact_id };
}

function About({ artifact }: { artifact: ArtifactAnswer }) {
  const { org, flow } = route.useParams();
  const { fingerprint, trail_name, git_commit, template_reference_name, created_at, created_by } = artifact;
  return (
    <>
      <Fingerprint value={fingerprint} />
      <span>
        <Tag>{template_reference_name}</Tag>
      </span>
      <span>
        trail <TrailLink org={org} flow={flow} trail={trail_name} />
      </span>
      <span>
        commit <CommitLink org={org} sha={git_commit} />
      </span>
      <span>
        reported <Time at={created_at} /> by {created_by}
      </span>
    </>
  );
}

function Head({ artifact, onCheck }: { artifact: ArtifactAnswer | undefined; onCheck: () => void }) {
  const { org, flow, fingerprint } = useReport();
  return (
    <PageHead
      title={artifact?.filename ?? `Artifact ${shortWords(fingerprint)}`}
      crumbs={
        <Crumb>
          <FlowLink org={org} flow={flow} />
        </Crumb>
      }
      verdict={artifact === undefined ? null : <VerdictMark verdict={verdictOfText(artifact.state)} isPill />}
      about={artifact === undefined ? <span>&nbsp;</span> : <About artifact={artifact} />}
      actions={
        <>
          <Button icon="policies" onClick={onCheck}>
            Check against…
          </Button>
          <AuditMenu
            downloads={[
              {
                words: "Audit package of the artifact",
                href: addressOf("GET /artifacts/{org}/{flow_name}/{fingerprint}/audit_package", {
                  params: { org, flow_name: flow, fingerprint },
                }),
              },
            ]}
          />
        </>
      }
    />
  );
}

/** Says that what is shown is not the latest report of the artifact in its flow, and leads there. */
function OlderReport({ artifact: { id, flow_name }, found }: { artifact: ArtifactAnswer; found: Found }) {
  const params = route.useParams();
  const latest = found.artifacts.find(({ flow }) => flow === flow_name);
  const latestId = parameterOf(latest?.html_url, "artifact_id");
  if (latestId === undefined || latestId === id) return null;
  return (
    <Note>
      An older report of this artifact.{" "}
      <Link to="/$org/flows/$flow/artifacts/$fingerprint" params={params}>
        See the latest
      </Link>
    </Note>
  );
}

function Why() {
  const report = useReport();
  const query = useQuery(explanationQuery(report));
  return (
    <Card title="Verdict and evidence">
      <Loaded query={query} waiting={<div className={styles["waiting"]} aria-busy="true" />}>
        {({ status, summary, evaluated_at, requirements, proposed_reports, flow_name, trail_name }) => (
          <Stack>
            <p className={styles["summary"]}>
              <VerdictMark verdict={verdictOfText(status)} />
              <span>{summary}</span>
              <span className={styles["judged"]}>
                judged <Time at={evaluated_at} />
              </span>
            </p>
            <SmallestFix
              org={report.org}
              flow_name={flow_name}
              trail_name={trail_name}
              proposed_reports={proposed_reports}
            />
            {requirements.length === 0 ? (
              <p className={styles["quiet"]}>Its flow asks for nothing, and nothing was attested.</p>
            ) : (
              <Requirements requirements={requirements} />
            )}
          </Stack>
        )}
      </Loaded>
    </Card>
  );
}

function Details({ artifact }: { artifact: ArtifactAnswer }) {
  const { org } = route.useParams();
  const { repo_info, build_url, commit_url, git_commit, git_commit_info, description, annotations } =
    artifact;
  return (
    <Card title="Origin">
      <Facts
        facts={[
          [
            "Repo",
            repo_info === null ? undefined : (
              <Link key="repo" to="/$org/repos/$" params={{ org, _splat: repo_info.name }}>
                {repo_info.name}
              </Link>
            ),
          ],
          [
            "Commit",
            git_commit === "" ? "unknown" : <Commit key="commit" sha={git_commit} url={commit_url} />,
          ],
          ["Message", git_commit_info?.message],
          ["Author", git_commit_info?.author],
          ["Branch", git_commit_info?.branch],
          ["Build", <ForeignLink key="build" address={build_url} />],
          ["Description", description],
          ...Object.entries(annotations ?? {}).map(
            ([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)] as const,
          ),
          ...Object.entries(artifact.external_urls ?? {}).map(
            ([name, { href }]) => [name, <ForeignLink key={name} address={href} />] as const,
          ),
        ]}
      />
      {artifact.user_data === null || artifact.user_data === undefined ? null : (
        <Fold title="User data">
          <pre className={styles["data"]}>{JSON.stringify(artifact.user_data, null, 2)}</pre>
        </Fold>
      )}
    </Card>
  );
}

function Matter({ artifact }: { artifact: ArtifactAnswer }) {
  const report = useReport();
  const { org, trail, artifact_id } = report;
  const { fingerprint, flow_name } = artifact;
  const found = useQuery(foundQuery(org, fingerprint));
  const explanation = useQuery(explanationQuery(report));
  // Without one of these the latest report was asked for, above which nothing is said.
  const mayBeOlder = trail !== undefined || artifact_id !== undefined;
  return (
    <Stack>
      {found.data === undefined ? null : <OlderReport artifact={artifact} found={found.data} />}
      <BelowLoaded above={mayBeOlder ? [found] : []} waiting={<PictureRoom />}>
        <Provenance org={org} fingerprint={fingerprint}>
          <Why />
          <BelowLoaded above={[explanation]}>
            <div className={styles["pair"]}>
              <Places org={org} artifact={artifact} />
              <Details artifact={artifact} />
            </div>
            <Loaded query={found}>
              {({ artifacts }) => (
                <Flows
                  org={org}
                  title="Other flows that know it"
                  artifacts={artifacts.filter(({ flow }) => flow !== flow_name && flow !== "")}
                />
              )}
            </Loaded>
          </BelowLoaded>
        </Provenance>
      </BelowLoaded>
    </Stack>
  );
}

/** An artifact as a flow knows it: whether it complies and why, where it comes from, what proves it, where it runs. */
export function Artifact() {
  const report = useReport();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(artifactQuery(report));
  const { data, error } = query;
  const check = (change: ArtifactSearch, replace = false): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace, resetScroll: false });
  return (
    <>
      <Head artifact={data} onCheck={() => check({ check: true })} />
      {data !== undefined ? (
        <Matter artifact={data} />
      ) : error === null ? (
        <PictureRoom />
      ) : (
        <FailedToRead error={error} retry={() => void query.refetch()} />
      )}
      {search.check === true ? (
        <CheckDialog
          org={report.org}
          fingerprint={data?.fingerprint ?? report.fingerprint}
          chosen={search}
          onChoose={(change) => check(change, true)}
          onClose={() => check({ check: undefined, environment: undefined, policy: undefined })}
        />
      ) : null}
    </>
  );
}
