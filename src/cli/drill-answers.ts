import { endpoints } from "../contract/index.ts";
import { JsonPieces, JsonText, type Piece } from "../contract/endpoint.ts";
import { AppError } from "../domain/errors.ts";
import type { OrgAccess } from "../domain/principal.ts";
import { ByteWriter } from "../lib/byte-writer.ts";
import { handlers } from "../modules/handlers.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import {
  countEntries,
  type SampledOrganization,
  sampleOrganizations,
  sampleSnapshots,
} from "../modules/maintenance/backups/drill-store.ts";

/** Answers that are compared. */
const wanted = 20;

/** Records of so many seconds before the last one may still be on their way in the source when the copy was made. */
const settled = 60;

/** What is asked of both sides. */
interface Question {
  operation:
    | "list_organization_audit_log"
    | "list_builds"
    | "get_flows"
    | "list_trails_for_org"
    | "get_attestations"
    | "get_snapshot";
  org: OrgAccess;
  params: Record<string, string>;
  query: Record<string, string>;
  /** Whether the answer stays what it is whatever is reported and changed afterwards. */
  isFinal: boolean;
}

/** What comparing answers came to. */
export interface ComparedAnswers {
  compared: number;
  /** Answers that differ, in sentences. */
  differences: string[];
}

function writePiece(writer: ByteWriter, piece: Piece): void {
  if (typeof piece === "string") writer.text(piece);
  else if (Buffer.isBuffer(piece)) writer.bytes(piece);
  else piece.writeTo(writer);
}

async function textOf(body: unknown): Promise<string> {
  const writer = new ByteWriter(65_536);
  try {
    if (body instanceof JsonPieces) for await (const piece of body.pieces) writePiece(writer, piece);
    else writePiece(writer, body instanceof JsonText ? body : JSON.stringify(body));
    return writer.result().toString();
  } finally {
    writer.release();
  }
}

type AnyHandler = (deps: Deps, call: unknown) => Promise<{ status: number; body: unknown }>;

/** Asks as the organization's administrator would. @returns status and body; the failure of a request that is refused. */
async function answer(deps: Deps, { operation, org, params, query }: Question): Promise<string> {
  const handler = handlers[operation] as unknown as AnyHandler;
  const path = `/api/v2/drill/${operation}`;
  const call = {
    params: { org: org.name, ...params },
    query: endpoints[operation].query.parse(query),
    org,
    url: `${deps.config.publicUrl}${path}`,
    path,
    headers: {},
  };
  try {
    const { status, body } = await handler(deps, call);
    return `${status} ${await textOf(body)}`;
  } catch (error) {
    if (error instanceof AppError) return `${error.kind} ${error.message}`;
    throw error;
  }
}

const auditPageSize = 100;

/** Makes questions about an organization, those first that are worth most. */
async function questionsAbout(
  copy: Deps,
  { entries, last_at, ...organization }: SampledOrganization,
  isQuiet: boolean,
): Promise<Question[]> {
  const org: OrgAccess = { ...organization, role: "admin" };
  const ask = (
    operation: Question["operation"],
    query: Record<string, string>,
    params: Record<string, string> = {},
  ): Question => ({ operation, org, params, query, isFinal: operation === "list_organization_audit_log" });
  const to = (last_at ?? 0) - (isQuiet ? 0 : settled);
  const pages = Math.max(1, Math.ceil(entries / auditPageSize));
  const auditPages = [...new Set([pages, 1, Math.ceil(pages / 2)])];
  const audit = auditPages.map((page) =>
    ask("list_organization_audit_log", {
      to_timestamp: to.toFixed(6),
      sort_direction: "asc",
      per_page: String(auditPageSize),
      page: String(page),
    }),
  );
  const snapshots = await sampleSnapshots(copy.db, org.id, 3);
  return [
    ...audit.slice(0, 1),
    ask("list_builds", { start_ts: "0", per_page: "50" }),
    ...snapshots.map(({ environment, index }) =>
      ask("get_snapshot", {}, { env_name: environment, snapshot_expression: String(index) }),
    ),
    ask("get_attestations", { per_page: "50" }),
    ask("list_trails_for_org", { per_page: "50" }),
    ask("get_flows", {}),
    ...audit.slice(1),
  ];
}

const isUnchanged = async (deps: Deps, { id, entries }: SampledOrganization): Promise<boolean> =>
  (await countEntries(deps.db, id)) === entries;

/**
 * Compares answers of the copy with those of the database that it is a copy of. Where something was reported or changed since, only those
 * are compared that do not change by that: pages of the audit log.
 */
export async function compareAnswers(source: Deps, copy: Deps): Promise<ComparedAnswers> {
  const found: ComparedAnswers = { compared: 0, differences: [] };
  const byOrganization: { organization: SampledOrganization; questions: Question[] }[] = [];
  for (const organization of await sampleOrganizations(copy.db, wanted)) {
    const now = await countEntries(source.db, organization.id);
    if (now === undefined) continue;
    const isQuiet = now === organization.entries;
    const all = await questionsAbout(copy, organization, isQuiet);
    const questions = isQuiet ? all : all.filter(({ isFinal }) => isFinal);
    byOrganization.push({ organization, questions });
  }
  for (let round = 0; found.compared < wanted; round += 1) {
    const before = found.compared;
    for (const { organization, questions } of byOrganization) {
      const question = questions[round];
      if (question === undefined || found.compared === wanted) continue;
      const [there, here] = [await answer(source, question), await answer(copy, question)];
      // Somebody may have written meanwhile.
      if (there !== here && !question.isFinal && !(await isUnchanged(source, organization))) continue;
      found.compared += 1;
      if (there !== here)
        found.differences.push(
          `Organization ${organization.id}: ${question.operation} is answered otherwise than by the database that was backed up`,
        );
    }
    if (byOrganization.every(({ questions }) => questions.length <= round) && found.compared === before)
      break;
  }
  return found;
}
