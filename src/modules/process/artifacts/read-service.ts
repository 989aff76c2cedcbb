import { evidenceInSteps } from "../../../domain/compliance/evaluate.ts";
import { type AppError, notFound } from "../../../domain/errors.ts";
import type { Org } from "../../../domain/principal.ts";
import { parseWireId } from "../../../lib/ids.ts";
import { type PageNumbers, pageSlice } from "../../../lib/paging.ts";
import { present } from "../../../lib/present.ts";
import { eachOf, paced } from "../../../lib/steps.ts";
import { exactList } from "../../../lib/wide-json.ts";
import { zip } from "../../../lib/zip.ts";
import { type JudgeableArtifact, readArtifactCases } from "../compliance/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { printPage } from "../../kernel/list-answer.ts";
import { findFlowIdByName, getFlowId } from "../flows/service.ts";
import { findRepoIds } from "../repos/service.ts";
import {
  type ArtifactPlace,
  findArtifact,
  listArtifacts,
  listArtifactsOfCommit,
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

async function judge(deps: Reading, org: Org, rows: readonly ReadArtifactRow[]): Promise<JudgedArtifact[]> {
  const { db } = deps;
  const found = await readArtifactCases(
    db,
    org.id,
    rows.map((row) => row.id),
  );
  const cases = await paced(
    eachOf(zip(rows, found), function* ([row, deciding]) {
      const { template, reports, artifact } = deciding;
      return { row, deciding, evidence: yield* evidenceInSteps(template, reports, artifact) };
    }),
  );
  const ids = cases.flatMap(({ evidence }) => evidence.attestations.map((one) => one.attestation_id));
  const files = await listEvidence(db, org.id, ids);
  const details = new Map(files.map((one) => [one.attestation_id, one]));
  return cases.map((one) => ({ ...one, details }));
}

/** Which page of which list. With a flow the repo does not matter. */
interface ArtifactListQuestion extends PageNumbers {
  flow_name?: string | undefined;
  repo_name?: string | undefined;
}

/**
 * Reads a page of artifacts, newest first: the text of a JSON array, or those of its parts.
 * @throws AppError not_found for a flow or a repo that there is not.
 */
export async function readArtifactList(
  deps: Reading,
  org: Org,
  asked: ArtifactListQuestion,
): Promise<string | AsyncIterable<string>> {
  const { flow_name } = asked;
  const repo_name = flow_name ? undefined : asked.repo_name;
  const flow_id = flow_name ? await getFlowId(deps.db, org, flow_name) : undefined;
  const repo_ids = repo_name
    ? await findRepoIds(deps.db, org.id, { id: undefined, repo_id: undefined, name: repo_name })
    : undefined;
  if (repo_ids?.length === 0) throw notFound(`Repo '${repo_name}' not found`);
  const page = await listArtifacts(deps.db, org.id, { flow_id, repo_ids }, pageSlice(asked));
  const print = async (rows: readonly ReadArtifactRow[]): Promise<string> => {
    const artifacts = await judge(deps, org, rows);
    const items = await paced(eachOf(artifacts, (judged) => showArtifactItem(deps, org, judged)));
    return paced(exactList(items));
  };
  return printPage(page, () => listWholePage(deps.db, org.id, page), print);
}

async function readInFull(
  deps: Reading,
  org: Org,
  rows: readonly ReadArtifactRow[],
  place: ArtifactPlace,
): Promise<ShownArtifact[]> {
  const { db } = deps;
  const fingerprints = [...new Set(rows.map((row) => row.fingerprint))];
  const [artifacts, history, stays] = await Promise.all([
    judge(deps, org, rows),
    listHistory(db, org.id, { ...place, fingerprints }),
    listStays(db, org.id, fingerprints),
  ]);
  const showing = eachOf(artifacts, (judged) => {
    const { fingerprint } = judged.row;
    const past = {
      history: history.filter((event) => event.fingerprint === fingerprint),
      stays: stays.get(fingerprint) ?? [],
    };
    return showArtifact(deps, org, judged, past);
  });
  return paced(showing);
}

/**
 * Reads an artifact by its newest report that fits.
 * @throws AppError not_found.
 */
export async function readArtifact(deps: Reading, org: Org, asked: ArtifactQuestion): Promise<ShownArtifact> {
  const { row, place } = await getPlaced(deps, org, asked);
  const [artifact] = await readInFull(deps, org, [row], place);
  return present(artifact, "each row is answered");
}

/** Artifacts of one commit that are answered at most. */
const maxOfCommit = 500;

/**
 * Reads the artifacts built from a commit: the text of a JSON array, or those of its parts.
 * @throws AppError not_found when there is none.
 */
export async function readArtifactsOfCommit(
  deps: Reading,
  org: Org,
  asked: { flow_name: string; commit: string; trail: string | undefined },
): Promise<string | AsyncIterable<string>> {
  const { flow_name, commit, trail } = asked;
  const flow_id = await findFlowIdByName(deps.db, org.id, flow_name);
  if (flow_id !== undefined) {
    const place = placeIn(flow_id, { trail });
    const page = await listArtifactsOfCommit(deps.db, org.id, { ...place, commit, limit: maxOfCommit });
    const print = async (rows: readonly ReadArtifactRow[]): Promise<string> =>
      paced(exactList(await readInFull(deps, org, rows, place)));
    if (page.rows.length > 0) return printPage(page, () => listWholePage(deps.db, org.id, page), print);
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
