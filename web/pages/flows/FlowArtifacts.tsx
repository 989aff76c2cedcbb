import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";

import type { AnswerOf } from "../../api/contract.ts";
import { pageOfArray } from "../../api/page.ts";
import { commandPlace } from "../../api/place.ts";
import { artifactCommand, sampleFingerprint } from "../../domain/commands.ts";
import { trailTitle } from "../../domain/trail-search.ts";
import { verdictOfText } from "../../domain/verdict.ts";
import { Commands } from "../../parts/Commands.tsx";
import { Commit } from "../../parts/Commit.tsx";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { Fingerprint } from "../../parts/Fingerprint.tsx";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { PageLink } from "../../parts/PageLink.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Empty } from "../../ui/Empty.tsx";
import { Quiet } from "../../ui/Layout.tsx";
import { Pager } from "../../ui/Pager.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import { artifactsExport } from "./exports.ts";
import { FlowHead } from "./FlowHead.tsx";
import { artifactsPerPage, artifactsQuery } from "./queries.ts";

const route = getRouteApi("/$org/flows/$flow/artifacts");
type Artifact = AnswerOf<"GET /artifacts/{org}">[number];

/** What the API says in place of a commit that is not known. */
const noCommit = /^0*$/;

const columnsOf = (org: string): Column<Artifact>[] => [
  {
    key: "name",
    head: "Artifact",
    cell: ({ filename, template_reference_name, html_url }) => (
      <>
        <PageLink address={html_url}>
          <strong>{filename}</strong>
        </PageLink>
        <br />
        <Quiet isSmall>{template_reference_name}</Quiet>
      </>
    ),
  },
  {
    key: "state",
    head: "State",
    width: "150px",
    cell: ({ state }) => <VerdictMark verdict={verdictOfText(state)} />,
  },
  {
    key: "fingerprint",
    head: "Fingerprint",
    isOptional: true,
    cell: ({ fingerprint }) => <Fingerprint value={fingerprint} />,
  },
  {
    key: "trail",
    head: "Trail",
    cell: ({ flow_name: flow, trail_name: trail }) => (
      <Link to="/$org/flows/$flow/trails/$trail" params={{ org, flow, trail }}>
        {trailTitle(trail)}
      </Link>
    ),
  },
  {
    key: "commit",
    head: "Commit",
    isOptional: true,
    cell: ({ git_commit, commit_url }) => (
      <Commit sha={noCommit.test(git_commit) ? null : git_commit} url={commit_url} />
    ),
  },
  {
    key: "at",
    head: "Reported",
    isOptional: true,
    width: "120px",
    cell: ({ created_at }) => <Time at={created_at} />,
  },
];

/** The artifacts of a flow, the latest first. */
export function FlowArtifacts() {
  const { org, flow } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(artifactsQuery(org, flow, search));
  const { data, error } = query;
  const asked = { page: search.page ?? 1, per_page: artifactsPerPage };
  const page = data === undefined ? undefined : pageOfArray(data, asked);
  const sample = { flow_name: flow, fingerprint: sampleFingerprint, filename: "app" };
  return (
    <>
      <FlowHead
        org={org}
        flow={flow}
        current="/$org/flows/$flow/artifacts"
        actions={<ExportMenu list={artifactsExport(org, flow, search)} />}
      />
      {error !== null && page === undefined ? (
        <FailedToRead error={error} retry={() => void query.refetch()} />
      ) : page?.items.length === 0 && asked.page === 1 ? (
        <Empty title="No artifacts yet" text="What a flow builds is reported to its trails.">
          <Commands
            command={artifactCommand(commandPlace(org), sample)}
            label="command that reports an artifact"
          />
        </Empty>
      ) : (
        <Table
          label={`Artifacts of ${flow}`}
          columns={columnsOf(org)}
          rows={page?.items}
          rowKey={({ id }) => id}
          isOld={query.isPlaceholderData}
        />
      )}
      {page === undefined ? null : (
        <Pager
          {...page}
          count={page.items.length}
          onPage={(number) => void navigate({ search: { page: number } })}
        />
      )}
    </>
  );
}
