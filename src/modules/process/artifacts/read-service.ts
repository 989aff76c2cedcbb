import { exactBody, JsonPieces, type JsonText } from "../../../contract/endpoint.ts";
import { mostBytes } from "../../../db/heavy-page.ts";
import { evidenceInSteps } from "../../../domain/compliance/evaluate.ts";
import { type AppError, notFound } from "../../../domain/errors.ts";
import type { Org } from "../../../domain/principal.ts";
import { writeJson } from "../../../lib/exact-json.ts";
import { inTurn } from "../../../lib/in-turn.ts";
import { LeftOutTexts } from "../../../lib/left-out.ts";
import { parseWireId } from "../../../lib/ids.ts";
import { type PageNumbers, pageSlice } from "../../../lib/paging.ts";
import { present } from "../../../lib/present.ts";
import { collected, eachOf, grouped, paced, type Steps } from "../../../lib/steps.ts";
import { exactList, widePieces } from "../../../lib/wide-json.ts";
import { zip } from "../../../lib/zip.ts";
import { type JudgeableArtifact, readArtifactCases } from "../compliance/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { printPage, type PutInto } from "../../kernel/list-answer.ts";
import { findFlowIdByName, getFlowId } from "../flows/service.ts";
import { findRepoIds } from "../repos/service.ts";
import {
  type ArtifactPage,
  type ArtifactPlace,
  findArtifact,
  listArtifacts,
  listArtifactsOfCommit,
  listEvidenceTexts,
  evidenceTextId,
  type EvidenceRow,
  listEvidence,
  listHistory,
  listStays,
  listWholePage,
  type ReadArtifactRow,
} from "./read-store.ts";
import { type JudgedArtifact, showArtifact, showArtifactItem, type ShownArtifact } from "./show.ts";

type Reading = Pick<Deps, "db" | "links">;

/** Which report of an artifact is asked for. */
export interface ArtifactQuestion {
  flow_name: string;
  /** The beginning is enough. */
  fingerprint: string;
  trail?: string | undefined;
  /** Wire id of an attestation of the trail that is meant. */
  attestation_id?: string | undefined;
  /** Wire id of the report that is meant. */
  artifact_id?: string | undefined;
}

function artifactNotFound(what: string, flow: string, org: Org): AppError {
  return notFound(
    `Artifact with ${what} does not exist in flow '${flow}' belonging to organization '${org.name}'`,
  );
}

/** Reads what narrows a question down. Clients send empty texts for filters that were not set. */
function placeIn(flow_id: string, asked: Pick<ArtifactQuestion, "trail" | "attestation_id">): ArtifactPlace {
  const { trail, attestation_id } = asked;
  return {
    flow_id,
    trail: trail || undefined,
    attestation_id: attestation_id === undefined ? undefined : parseWireId(attestation_id),
  };
}

async function getPlaced(deps: Reading, org: Org, asked: ArtifactQuestion) {
  const flow_id = await findFlowIdByName(deps.db, org.id, asked.flow_name);
  if (flow_id !== undefined) {
    const place = placeIn(flow_id, asked);
    const id = asked.artifact_id === undefined ? undefined : parseWireId(asked.artifact_id);
    const row = await findArtifact(deps.db, org.id, { fingerprint: asked.fingerprint, id }, place);
    if (row !== undefined) return { row, place };
  }
  throw artifactNotFound(`fingerprint '${asked.fingerprint}'`, asked.flow_name, org);
}

/** Shows texts of attestations up to as many bytes as are not too much at once, and leaves out others. */
function describing(leftOut: LeftOutTexts): JudgedArtifact["describe"] {
  let left = mostBytes;
  return (attestation, which) => {
    const leftOutBytes = attestation[`${which}_left_out`];
    const length = leftOutBytes ?? attestation[which]?.length ?? 0;
    if (leftOutBytes !== null || length > left)
      return leftOut.leaveOut(evidenceTextId(attestation.attestation_id, which), length);
    left -= length;
    return attestation[which];
  };
}

/** @param leftOut takes what is not shown at once. */
async function judge(
  deps: Reading,
  org: Org,
  rows: readonly ReadArtifactRow[],
  leftOut: LeftOutTexts,
): Promise<JudgedArtifact[]> {
  const { db } = deps;
  const found = await readArtifactCases(
    db,
    org.id,
    rows.map((row) => row.id),
  );
  const ids: string[] = [];
  const cases = await paced(
    eachOf(zip(rows, found), function* ([row, deciding]) {
      const { template, reports, artifact } = deciding;
      const evidence = yield* evidenceInSteps(template, reports, artifact);
      yield* collected(evidence.attestations, ({ attestation_id }) => void ids.push(attestation_id));
      return { row, deciding, evidence };
    }),
  );
  const files = await listEvidence(db, org.id, ids);
  const details = new Map<string, EvidenceRow>();
  await paced(collected(files, (one) => void details.set(one.attestation_id, one)));
  const describe = describing(leftOut);
  return cases.map((one) => ({ ...one, details, describe }));
}

/** Makes what puts into artifacts what was left out of them. */
function puttingIn({ db }: Reading, org: Org, leftOut: LeftOutTexts): PutInto {
  return (pieces) => leftOut.putInto(pieces, (ids) => db.sliced(() => listEvidenceTexts(db, org.id, ids)));
}

/** Artifacts as JSON: the text of an array, or those of its parts, and what puts in what was left out of them. */
export interface ArtifactTexts {
  list: string | AsyncIterable<string>;
  putInto: PutInto;
}

async function printArtifacts(
  deps: Reading,
  org: Org,
  page: ArtifactPage,
  show: (rows: readonly ReadArtifactRow[], leftOut: LeftOutTexts) => Promise<readonly object[]>,
): Promise<ArtifactTexts> {
  const leftOut = new LeftOutTexts(mostBytes);
  const print = async (rows: readonly ReadArtifactRow[]): Promise<string> =>
    paced(exactList(await show(rows, leftOut)));
  const list = await printPage(page, () => listWholePage(deps.db, org.id, page), print);
  const isReady = typeof list !== "string" || leftOut.isEmpty;
  return { list: isReady ? list : inTurn([list]), putInto: puttingIn(deps, org, leftOut) };
}

/** Which page of which list. With a flow the repo does not matter. */
interface ArtifactListQuestion extends PageNumbers {
  flow_name?: string | undefined;
  repo_name?: string | undefined;
}

/**
 * Reads a page of artifacts, newest first.
 * @throws AppError not_found for a flow or a repo that there is not.
 */
export async function readArtifactList(
  deps: Reading,
  org: Org,
  asked: ArtifactListQuestion,
): Promise<ArtifactTexts> {
  const { flow_name } = asked;
  const repo_name = flow_name ? undefined : asked.repo_name;
  const flow_id = flow_name ? await getFlowId(deps.db, org, flow_name) : undefined;
  const repo_ids = repo_name
    ? await findRepoIds(deps.db, org.id, { id: undefined, repo_id: undefined, name: repo_name })
    : undefined;
  if (repo_ids?.length === 0) throw notFound(`Repo '${repo_name}' not found`);
  const page = await listArtifacts(deps.db, org.id, { flow_id, repo_ids }, pageSlice(asked));
  return printArtifacts(deps, org, page, async (rows, leftOut) => {
    const artifacts = await judge(deps, org, rows, leftOut);
    return paced(eachOf(artifacts, (judged) => showArtifactItem(deps, org, judged)));
  });
}

async function readInFull(
  deps: Reading,
  org: Org,
  rows: readonly ReadArtifactRow[],
  { place, leftOut }: { place: ArtifactPlace; leftOut: LeftOutTexts },
): Promise<ShownArtifact[]> {
  const { db } = deps;
  const fingerprints = [...new Set(rows.map((row) => row.fingerprint))];
  const [artifacts, history, stays] = await Promise.all([
    judge(deps, org, rows, leftOut),
    listHistory(db, org.id, { ...place, fingerprints }),
    listStays(db, org.id, fingerprints),
  ]);
  function* show(): Steps<ShownArtifact[]> {
    const histories = yield* grouped(history, ({ fingerprint }) => fingerprint);
    return yield* eachOf(artifacts, (judged) => {
      const { fingerprint } = judged.row;
      const past = { history: histories.get(fingerprint) ?? [], stays: stays.get(fingerprint) ?? [] };
      return showArtifact(deps, org, judged, past);
    });
  }
  return paced(show());
}

/**
 * Reads an artifact by its newest report that fits.
 * @throws AppError not_found.
 */
export async function readArtifact(
  deps: Reading,
  org: Org,
  asked: ArtifactQuestion,
): Promise<JsonText | JsonPieces> {
  const { row, place } = await getPlaced(deps, org, asked);
  const leftOut = new LeftOutTexts(mostBytes);
  const [read] = await readInFull(deps, org, [row], { place, leftOut });
  const artifact = present(read, "each row is answered");
  if (leftOut.isEmpty) return exactBody(artifact);
  return new JsonPieces(puttingIn(deps, org, leftOut)(inTurn(widePieces(artifact, writeJson))));
}

/** Artifacts of one commit that are answered at most. */
const maxOfCommit = 500;

/**
 * Reads the artifacts built from a commit.
 * @throws AppError not_found when there is none.
 */
export async function readArtifactsOfCommit(
  deps: Reading,
  org: Org,
  asked: { flow_name: string; commit: string; trail: string | undefined },
): Promise<ArtifactTexts> {
  const { flow_name, commit, trail } = asked;
  const flow_id = await findFlowIdByName(deps.db, org.id, flow_name);
  if (flow_id !== undefined) {
    const place = placeIn(flow_id, { trail });
    const page = await listArtifactsOfCommit(deps.db, org.id, { ...place, commit, limit: maxOfCommit });
    if (page.rows.length > 0)
      return printArtifacts(deps, org, page, (rows, leftOut) =>
        readInFull(deps, org, rows, { place, leftOut }),
      );
  }
  throw artifactNotFound(`commit sha '${commit}'`, flow_name, org);
}

/**
 * Reads a report of an artifact with what decides on it.
 * @throws AppError not_found.
 */
export async function getArtifactCase(
  deps: Reading,
  org: Org,
  asked: ArtifactQuestion,
): Promise<{ row: ReadArtifactRow; judged: JudgeableArtifact }> {
  const { row } = await getPlaced(deps, org, asked);
  const [judged] = await readArtifactCases(deps.db, org.id, [row.id]);
  return { row, judged: present(judged, "the report was found just now") };
}
