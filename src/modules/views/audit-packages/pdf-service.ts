import { Readable } from "node:stream";

import { attachmentDisposition } from "../../../domain/evidence-file.ts";
import { safeSegment } from "../../../domain/package-path.ts";
import type { Org } from "../../../domain/principal.ts";
import { parseWireId } from "../../../lib/ids.ts";
import { utcText } from "../../../lib/iso-time.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { createPdf, type PdfPaper } from "../../../lib/pdf.ts";
import { paced, type Steps } from "../../../lib/steps.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { EvidenceDownload } from "../../process/evidence/service.ts";
import type { ReadTrailRow } from "../../process/trails/list-store.ts";
import { getTrailRow } from "../../process/trails/service.ts";
import { showCommit } from "../../process/trails/show.ts";
import { countLines, eventLine, slotEntry, type SlotReports, verdictOf } from "./pdf-entries.ts";
import {
  findVerdictShown,
  listArtifactsShown,
  listAttestationsShown,
  listLatestTrailEvents,
  listReposShown,
  type ShownEvent,
  type Slot,
  type VerdictShown,
} from "./pdf-store.ts";

/** How much a document shows: more nobody reads, and all of it is in the audit package. */
const maxSlots = 1000;
const maxEvents = 1000;
const maxRepos = 20;

/** Entries and events written before the bytes of full pages are sent. */
const piece = 10;
/** Places whose reports are read at once. */
const batch = 200;

const whereAll = "All are in the trail's audit package.";

/** For whom a document is made. */
interface Asked {
  org: Org;
  actor: { name: string };
}

/** Everything one document is made from, but for who reported what. */
interface Report {
  org: Org;
  row: ReadTrailRow;
  verdict: VerdictShown;
  history: { events: ShownEvent[]; total: number };
  repos: { name: string; url: string }[];
  asked_by: string;
  made_at: Timestamp;
}

function* writeEach<Part>(parts: readonly Part[], write: (part: Part) => void): Steps<void> {
  for (const part of parts) {
    write(part);
    yield;
  }
}

/** Writes parts of a document, with turns for other requests between them, and gives the bytes of the full pages. */
async function* inTurns<Part>(
  pdf: PdfPaper,
  parts: readonly Part[],
  write: (part: Part) => void,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < parts.length; at += piece) {
    await paced(writeEach(parts.slice(at, at + piece), write));
    yield pdf.take();
  }
}

function repoFacts({ row, repos }: Report): [string, string][] {
  const facts = repos.map(({ name, url }): [string, string] => ["Repo", `${name}  ${url}`]);
  const more = row.repo_ids.length - repos.length;
  return more > 0 ? [...facts, ["Repos", `${more} more, see the audit package`]] : facts;
}

function commitFacts({ row }: Report): [string, string][] {
  const commit = showCommit(row.git_commit_info);
  if (commit === null) return [["Commit", "None was reported"]];
  const { timestamp } = commit;
  return [
    ["Commit", commit.sha1],
    ["Message", commit.message ?? ""],
    ["Author", commit.author ?? ""],
    ["Branch", commit.branch ?? ""],
    ["Committed", timestamp === null ? "" : utcText(timestamp)],
    ["Commit URL", commit.url ?? ""],
  ];
}

function writeFacts(pdf: PdfPaper, report: Report): void {
  const { org, row } = report;
  const facts: [string, string][] = [
    ["Organization", org.name],
    ["Flow", row.flow_name],
    ["Trail", row.name],
    ["Description", row.description],
    ...commitFacts(report),
    ...repoFacts(report),
    ["Begun", `${utcText(row.created_at)} by ${row.created_by_name}`],
    ["Last report", utcText(row.last_modified_at)],
    ["Document made", `${utcText(report.made_at)}, asked for by ${report.asked_by}`],
  ];
  pdf.facts(facts.filter(([, value]) => value !== ""));
}

function writeVerdict(pdf: PdfPaper, { verdict }: Report): void {
  pdf.heading("Verdict");
  pdf.entry({
    title: "The trail is",
    verdict: verdictOf(verdict.state),
    lines: [`Judged ${utcText(verdict.evaluated_at)}`, ...countLines(verdict.counts)],
  });
}

/** Reads the reports that these places rest on. */
async function readReports(
  deps: Pick<Deps, "db">,
  orgId: string,
  slots: readonly Slot[],
): Promise<SlotReports> {
  const ids = (wireIds: readonly (string | null)[]) =>
    wireIds.flatMap((id) => (id === null ? [] : (parseWireId(id) ?? [])));
  const ofAttestations = slots.flatMap(({ kind, status }) =>
    kind === "attestation" ? [status.attestation_id, status.overridden_attestation_id] : [],
  );
  const ofArtifacts = slots.map(({ kind, status }) => (kind === "artifact" ? status.artifact_id : null));
  const [attestations, artifacts] = await Promise.all([
    listAttestationsShown(deps.db, orgId, ids(ofAttestations)),
    listArtifactsShown(deps.db, orgId, ids(ofArtifacts)),
  ]);
  return {
    attestations: new Map(attestations.map((row) => [row.wire_id, row])),
    artifacts: new Map(artifacts.map((row) => [row.wire_id, row])),
  };
}

async function* writeSlots(
  deps: Pick<Deps, "db">,
  pdf: PdfPaper,
  { org, verdict: { slots, counts } }: Report,
): AsyncGenerator<Uint8Array> {
  pdf.heading("Artifacts and attestations");
  if (slots.length === 0) pdf.note("Nothing is expected, and nothing was reported.");
  for (let at = 0; at < slots.length; at += batch) {
    const part = slots.slice(at, at + batch);
    const reports = await readReports(deps, org.id, part);
    yield* inTurns(pdf, part, (slot) => pdf.entry(slotEntry(slot, reports)));
  }
  const left = counts.reduce((sum, { count }) => sum + count, 0) - slots.length;
  if (left > 0) pdf.note(`${left} more artifacts and attestations are left out here. ${whereAll}`);
}

async function* writeEvents(pdf: PdfPaper, { history }: Report): AsyncGenerator<Uint8Array> {
  const { events, total } = history;
  pdf.heading("Events");
  const left = total - events.length;
  if (left > 0)
    pdf.note(`The first ${left} of ${total} events are left out here, the latest follow. ${whereAll}`);
  yield* inTurns(pdf, events, (event) => pdf.line(eventLine(event)));
}

async function* documentOf(deps: Deps, report: Report): AsyncGenerator<Uint8Array> {
  const { org, row, made_at } = report;
  const pdf = await createPdf(`Trail ${row.name}`, new Date(made_at * 1000));
  writeFacts(pdf, report);
  writeVerdict(pdf, report);
  yield* writeSlots(deps, pdf, report);
  yield* writeEvents(pdf, report);
  pdf.heading("About this document");
  const address = deps.links.api(`/trails/${org.name}/${row.flow_name}/${row.name}/audit_package`);
  pdf.note(`Records in full, with the files and their digests, are in the audit package: ${address}`);
  pdf.note("A character that the fonts of this document do not have is written as its code point: [U+FFFD].");
  yield* pdf.end();
}

async function readReport(deps: Deps, { org, actor }: Asked, row: ReadTrailRow): Promise<Report> {
  const repoIds = row.repo_ids.slice(0, maxRepos).flatMap((id) => parseWireId(id) ?? []);
  const [verdict, history, repos] = await Promise.all([
    findVerdictShown(deps.db, org.id, row.id, maxSlots),
    listLatestTrailEvents(deps.db, org.id, row.id, maxEvents),
    listReposShown(deps.db, org.id, repoIds),
  ]);
  return {
    org,
    row,
    verdict,
    history,
    repos,
    asked_by: actor.name,
    made_at: deps.clock.now(),
  };
}

/**
 * Writes what was attested on a trail as a PDF for people, while it is sent. Of a long trail it shows a part and says so.
 * @throws AppError not_found.
 */
export async function trailPdf(
  deps: Deps,
  asked: Asked,
  names: { flow_name: string; trail_name: string },
): Promise<EvidenceDownload> {
  const row = await getTrailRow(deps, asked.org, names);
  const report = await readReport(deps, asked, row);
  const name = safeSegment(`${names.flow_name}-${names.trail_name}`);
  return {
    body: Readable.from(documentOf(deps, report), { objectMode: false }),
    headers: {
      "content-type": "application/pdf",
      "content-disposition": attachmentDisposition(`${name}.pdf`),
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
    },
  };
}
