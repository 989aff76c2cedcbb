import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback } from "react";

import { commandPlace } from "../../api/place.ts";
import { attestationCommand } from "../../domain/commands.ts";
import { listPeriodChoices } from "../../domain/periods.ts";
import { shortWords } from "../../domain/provenance.ts";
import { verdictOfFlag } from "../../domain/verdict.ts";
import { Commands } from "../../parts/Commands.tsx";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { PageLink } from "../../parts/PageLink.tsx";
import { ArtifactLink, CommitLink, FlowLink, TrailLink } from "../../parts/ProcessLinks.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { ownTypesQuery } from "../../parts/queries.ts";
import { PageHead } from "../../shell/PageHead.tsx";
import { buttonClass } from "../../ui/Button.tsx";
import { Empty, NoMatch } from "../../ui/Empty.tsx";
import { Choice, FilterBar, SearchField } from "../../ui/Field.tsx";
import { Quiet, Row } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time, useNow } from "../../ui/Time.tsx";
import styles from "./Attestations.module.css";
import { attestationsExport } from "./exports.ts";
import { type Attestation, attestationsQuery, type AttestationsSearch, nextOf } from "./queries.ts";

const route = getRouteApi("/$org/attestations");

const types = ["generic", "junit", "snyk", "sonar", "pull_request", "jira", "decision"] as const;

function columnsOf(org: string): Column<Attestation>[] {
  return [
    {
      key: "verdict",
      head: "Verdict",
      width: "142px",
      cell: ({ is_compliant }) => <VerdictMark verdict={verdictOfFlag(is_compliant)} />,
    },
    {
      key: "name",
      head: "Attestation",
      cell: ({ attestation_name, attestation_type, html_url }) => (
        <>
          <PageLink address={html_url} className={styles["name"]}>
            {attestation_name}
          </PageLink>{" "}
          <Quiet isSmall>{attestation_type}</Quiet>
        </>
      ),
    },
    {
      key: "flow",
      head: "Flow and trail",
      cell: ({ flow_name, trail_name }) => (
        <>
          <FlowLink org={org} flow={flow_name} /> /{" "}
          <TrailLink org={org} flow={flow_name} trail={trail_name} />
        </>
      ),
    },
    {
      key: "of",
      head: "Of",
      isOptional: true,
      width: "110px",
      cell: ({ artifact_fingerprint: fingerprint, flow_name }) =>
        fingerprint === null ? (
          "the trail"
        ) : (
          <ArtifactLink org={org} flow={flow_name} fingerprint={fingerprint} name={shortWords(fingerprint)} />
        ),
    },
    {
      key: "commit",
      head: "Commit",
      isOptional: true,
      width: "96px",
      cell: ({ git_commit_info }) => <CommitLink org={org} sha={git_commit_info?.sha1} />,
    },
    { key: "by", head: "By", isOptional: true, cell: ({ reported_by }) => reported_by },
    { key: "when", head: "Reported", width: "112px", cell: ({ created_at }) => <Time at={created_at} /> },
  ];
}

function useFilter(): (change: AttestationsSearch, replace?: boolean) => void {
  const navigate = route.useNavigate();
  return useCallback(
    (change, replace = false) =>
      void navigate({ search: (before) => ({ ...before, ...change, after: undefined }), replace }),
    [navigate],
  );
}

/**
 * Lists the types to choose from: the system's, the organization's own, and the one that is chosen.
 * @param isThere whether the list is: what it can be filtered by comes after it.
 */
function useTypes(chosen: string | undefined, isThere: boolean): string[] {
  const { org } = route.useParams();
  const { data = [] } = useQuery({ ...ownTypesQuery(org), enabled: isThere });
  const own = data.map((type) => `custom:${type.name}`);
  return [...new Set([...types, ...own, ...(chosen === undefined ? [] : [chosen])])];
}

function Filters({ isThere }: { isThere: boolean }) {
  const { name, type, flow, verdict, since } = route.useSearch();
  const filter = useFilter();
  const offered = useTypes(type, isThere);
  const byName = useCallback(
    (text: string) => filter({ name: text === "" ? undefined : text }, true),
    [filter],
  );
  const byFlow = useCallback(
    (text: string) => filter({ flow: text === "" ? undefined : text }, true),
    [filter],
  );
  return (
    <FilterBar>
      <SearchField label="Name" value={name ?? ""} onSearch={byName} />
      <SearchField label="Flow, its whole name" value={flow ?? ""} onSearch={byFlow} />
      <Choice
        label="Type"
        value={type}
        choices={offered.map((one) => [one, one] as const)}
        onChoose={(chosen) => filter({ type: chosen })}
      />
      <Choice
        label="Verdict"
        value={verdict}
        choices={[
          ["compliant", "Compliant"],
          ["non-compliant", "Non-compliant"],
        ]}
        onChoose={(chosen) => filter({ verdict: chosen })}
      />
      <Choice
        label="Reported"
        value={since}
        choices={listPeriodChoices}
        onChoose={(chosen) => filter({ since: chosen })}
      />
    </FilterBar>
  );
}

function None() {
  const { org } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  if (Object.values(search).some((value) => value !== undefined))
    return (
      <NoMatch
        title="No attestation matches"
        text="None of this organization's attestations is as the filters say."
        onClear={() => void navigate({ search: {} })}
      />
    );
  return (
    <Empty
      title="Nothing was attested yet"
      text="An attestation says what was found out about an artifact or a trail: tests, scans, reviews. Pipelines report them."
    >
      <Commands
        label="command that reports an attestation"
        command={attestationCommand(commandPlace(org), {
          flow_name: "my-flow",
          trail_name: "1",
          attestation_name: "unit-tests",
          attestation_type: "junit",
        })}
      />
    </Empty>
  );
}

function Steps({ next }: { next: string | undefined }) {
  const { org } = route.useParams();
  const { after, ...search } = route.useSearch();
  if (next === undefined && after === undefined) return null;
  return (
    <nav aria-label="Pages" className={styles["steps"]} data-no-print>
      <Row>
        {after === undefined ? null : (
          <Link to="/$org/attestations" params={{ org }} search={search} className={buttonClass()}>
            To the newest
          </Link>
        )}
        {next === undefined ? (
          <Quiet isSmall>These are the oldest.</Quiet>
        ) : (
          <Link
            to="/$org/attestations"
            params={{ org }}
            search={{ ...search, after: next }}
            className={buttonClass()}
          >
            Older
          </Link>
        )}
      </Row>
    </nav>
  );
}

/** All attestations of an organization, the newest first. */
export function Attestations() {
  const { org } = route.useParams();
  const search = route.useSearch();
  const now = useNow(60_000);
  const query = useQuery(attestationsQuery(org, search, now));
  const { data, error } = query;
  return (
    <>
      <PageHead
        title="Attestations"
        asOf={search.until ?? now}
        actions={<ExportMenu list={attestationsExport(org, search, now)} />}
      />
      <Filters isThere={data !== undefined} />
      {error !== null && data === undefined ? (
        <FailedToRead error={error} retry={() => void query.refetch()} />
      ) : data?.data.length === 0 ? (
        <None />
      ) : (
        <>
          <Table
            label="Attestations"
            columns={columnsOf(org)}
            rows={data?.data}
            rowKey={({ attestation_id }) => attestation_id}
            isOld={query.isPlaceholderData}
          />
          {data === undefined ? null : <Steps next={nextOf(data)} />}
        </>
      )}
    </>
  );
}
