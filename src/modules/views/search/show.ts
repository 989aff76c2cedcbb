import type { FoundArtifact } from "../../../contract/search.ts";
import type { ComplianceState } from "../../../domain/compliance/model.ts";
import { artifactPage } from "../../../domain/pages.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { FoundRow, ReportTexts, StayRow } from "./store.ts";

type Stays = Pick<FoundArtifact, "running_in" | "exited_from" | "history">;

/** Shows where an artifact runs and ran, in words that clients know (contract environments 10.3). */
function showStays(stays: readonly StayRow[]): Stays {
  const names = (isRunning: boolean): string[] => [
    ...new Set(
      stays.filter((stay) => stay.is_running === isRunning).map(({ environment_name }) => environment_name),
    ),
  ];
  const history = stays.map(({ environment_name, snapshot_index, has_exited, timestamp }) => {
    const what = has_exited ? "No longer running in" : "Started running in";
    return { event: `${what} ${environment_name}#${snapshot_index} environment`, timestamp };
  });
  return { running_in: names(true), exited_from: names(false), history };
}

/** Shows the commit as an event, if its time is known. */
function showCommit({ git_commit, committed_at }: FoundRow): FoundArtifact["history"] {
  if (git_commit === null || committed_at === null) return [];
  return [{ event: `Commit ${git_commit.slice(0, 7)}`, timestamp: committed_at }];
}

/** An artifact that was found, with its state. */
export type JudgedRow = FoundRow & { compliance_state: ComplianceState };

/** Shows an artifact as a flow knows it. */
export function showFound(
  deps: Pick<Deps, "links">,
  org: { name: string },
  row: JudgedRow,
  texts: ReportTexts,
  stays: readonly StayRow[],
): FoundArtifact {
  const { fingerprint, flow_name, git_commit, created_at } = row;
  const { history, ...places } = showStays(stays);
  const created = { event: "Artifact created", timestamp: created_at };
  const since = [created, ...history].sort((left, right) => left.timestamp - right.timestamp);
  return {
    fingerprint,
    name: texts.filename,
    has_provenance: true,
    git_commit: git_commit ?? "",
    pipeline: flow_name,
    flow: flow_name,
    trail: row.trail_name,
    template_reference_name: row.template_reference_name,
    build_url: texts.build_url,
    commit_url: texts.commit_url,
    compliance_state: row.compliance_state,
    ...places,
    html_url: deps.links.web(`/${org.name}${artifactPage(row, fingerprint)}`),
    api_url: deps.links.api(`/artifacts/${org.name}/${flow_name}/fingerprint/${fingerprint}`),
    // The commit comes first, whatever the reporter's clock said.
    history: [...showCommit(row), ...since],
  };
}

/** Shows an artifact that runs or ran and that no flow knows. */
export function showUnknown(fingerprint: string, stays: readonly StayRow[]): FoundArtifact {
  return {
    fingerprint,
    name: stays.at(-1)?.name ?? "",
    has_provenance: false,
    git_commit: "",
    pipeline: "",
    flow: "",
    trail: "",
    template_reference_name: "",
    build_url: "",
    commit_url: "",
    compliance_state: "",
    ...showStays(stays),
    html_url: "",
    api_url: "",
  };
}
