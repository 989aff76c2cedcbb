import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import type { AnswerOf } from "../../api/contract.ts";
import { pageOfHead } from "../../api/page.ts";
import { commandPlace } from "../../api/place.ts";
import { attestationCommand } from "../../domain/commands.ts";
import { verdictOfFlag } from "../../domain/verdict.ts";
import { Commands } from "../../parts/Commands.tsx";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { Fingerprint } from "../../parts/Fingerprint.tsx";
import { PageLink } from "../../parts/PageLink.tsx";
import { PagedList } from "../../parts/PagedList.tsx";
import { FlowLink, TrailLink } from "../../parts/ProcessLinks.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Empty, NoMatch } from "../../ui/Empty.tsx";
import { Choice, FilterBar } from "../../ui/Field.tsx";
import { Quiet, Wrapping } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import { decisionsExport } from "./exports.ts";
import { decisionsQuery } from "./tab-queries.ts";

const route = getRouteApi("/$org/controls/$control");
type Decision = AnswerOf<"GET /controls/{org}/{identifier}/decisions">["decisions"][number];

const columnsOf = (org: string): Column<Decision>[] => [
  {
    key: "verdict",
    head: "Decision",
    width: "150px",
    cell: ({ is_compliant }) => <VerdictMark verdict={verdictOfFlag(is_compliant)} />,
  },
  {
    key: "about",
    head: "About",
    cell: ({ html_url, attestation_name, artifact_name, artifact_fingerprint }) => (
      <Wrapping>
        <PageLink address={html_url}>{artifact_name ?? "the trail as a whole"}</PageLink>{" "}
        {artifact_fingerprint === null ? null : <Fingerprint value={artifact_fingerprint} />}
        <div>
          <Quiet isSmall>{attestation_name}</Quiet>
        </div>
      </Wrapping>
    ),
  },
  {
    key: "trail",
    head: "Flow and trail",
    cell: ({ flow_name, trail_name }) => (
      <Wrapping>
        <FlowLink org={org} flow={flow_name} /> / <TrailLink org={org} flow={flow_name} trail={trail_name} />
      </Wrapping>
    ),
  },
  {
    key: "version",
    head: "Version",
    isNumber: true,
    isOptional: true,
    width: "80px",
    cell: ({ control_version }) => control_version ?? <Quiet>none yet</Quiet>,
  },
  {
    key: "by",
    head: "By",
    isOptional: true,
    width: "160px",
    cell: ({ reported_by }) => reported_by,
  },
  { key: "when", head: "When", width: "110px", cell: ({ created_at }) => <Time at={created_at} /> },
];

const choices = [
  ["compliant", "Compliant"],
  ["non-compliant", "Non-compliant"],
] as const;

function NoDecisions() {
  const { org, control } = route.useParams();
  const { verdict } = route.useSearch();
  const navigate = route.useNavigate();
  if (verdict !== undefined)
    return (
      <NoMatch
        title="No decision matches"
        text={`Nobody has decided "${verdict}" on it.`}
        onClear={() => void navigate({ search: {} })}
      />
    );
  return (
    <Empty
      title="Nobody has decided on it yet"
      text="A decision is an attestation of an artifact, or of a trail, that names the control."
    >
      <Commands
        command={attestationCommand(commandPlace(org), {
          flow_name: "my-flow",
          trail_name: "1",
          attestation_name: "decision",
          attestation_type: "decision",
          for_control: control,
        })}
        label="command that reports a decision"
      />
    </Empty>
  );
}

/** The decisions on a control, the latest first. */
export function Decisions() {
  const { org, control } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(decisionsQuery(org, control, search));
  const { data } = query;
  const page = data === undefined ? undefined : pageOfHead(data, data.decisions);
  return (
    <>
      <FilterBar>
        <Choice
          label="Decision"
          value={search.verdict}
          choices={choices}
          onChoose={(verdict) =>
            void navigate({ search: (before) => ({ ...before, verdict, page: undefined }) })
          }
        />
        <ExportMenu list={decisionsExport(org, control, search)} />
      </FilterBar>
      <PagedList
        query={query}
        page={page}
        empty={<NoDecisions />}
        onPage={(number) => void navigate({ search: (before) => ({ ...before, page: number }) })}
      >
        {(rows, isOld) => (
          <Table
            label="Decisions"
            columns={columnsOf(org)}
            rows={rows}
            rowKey={({ decision_id }) => decision_id}
            isOld={isOld}
          />
        )}
      </PagedList>
    </>
  );
}
