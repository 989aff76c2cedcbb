import { JsonPieces, type Piece, type WrittenText } from "../../../../contract/endpoint.ts";
import type { Org } from "../../../../domain/principal.ts";
import {
  type NamedRule,
  parseDecisions,
  printWithoutRules,
  RuleBook,
  rulesIn,
} from "../../../../domain/snapshot/decisions.ts";
import {
  type ArtifactDocument,
  type DecisionTexts,
  takeApart,
  writeDocument,
} from "../../../../domain/snapshot/documents.ts";
import type { ByteWriter } from "../../../../lib/byte-writer.ts";
import { textPieces } from "../../../../lib/text.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { DecisionBook } from "./decision-book.ts";
import { resolveSnapshot } from "./find-service.ts";
import { getSnapshotFrame, listAppliedPolicies, listDocuments, type SnapshotKey } from "./store.ts";

/** Writes a text as it stands in JSON, without the quotes. */
function inner(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Whether each artifact says the rules that were decided on, or all of them are said once. */
type RulesShown = "each" | "once";

interface Decided {
  texts: DecisionTexts;
  /** To be said once. */
  rules: readonly NamedRule[];
}

const readings: Record<RulesShown, (decisions: string) => Decided> = {
  each: (decisions) => ({ texts: takeApart(decisions), rules: [] }),
  once: (decisions) => {
    const shared = parseDecisions(decisions);
    return { texts: takeApart(printWithoutRules(shared)), rules: rulesIn(shared) };
  },
};

interface Reading {
  address: string;
  rules: RulesShown;
  book: RuleBook;
}

/** Documents that are written together, in bytes, about: many are short, and to ask for each costs as much as to write it. */
const togetherBytes = 64 * 1024;

/** Documents with a comma before each but the very first. */
class DocumentsPiece implements WrittenText {
  readonly #documents: [ArtifactDocument, DecisionTexts][] = [];
  readonly #address: string;
  readonly #isFirst: boolean;
  length = 0;

  constructor(address: string, isFirst: boolean) {
    this.#address = address;
    this.#isFirst = isFirst;
  }

  add(document: ArtifactDocument, decisions: DecisionTexts): void {
    this.#documents.push([document, decisions]);
    this.length += document.doc.length + decisions.length;
  }

  writeTo(writer: ByteWriter): void {
    for (const [at, [document, decisions]] of this.#documents.entries()) {
      if (at > 0 || !this.#isFirst) writer.text(",");
      writeDocument(writer, document, decisions, this.#address);
    }
  }
}

/** Writes the artifacts as the items of a list, without its brackets. */
async function* artifactPieces(
  deps: Pick<Deps, "db">,
  org: Org,
  snapshot: SnapshotKey,
  { address, rules, book }: Reading,
): AsyncGenerator<Piece> {
  const decisions = new DecisionBook(deps.db, org.id, snapshot, readings[rules]);
  let piece = new DocumentsPiece(address, true);
  for await (const documents of listDocuments(deps.db, org.id, snapshot))
    for await (const decided of decisions.of(documents))
      for (const [document, { texts, rules: said }] of decided) {
        book.add(said);
        piece.add(document, texts);
        if (piece.length < togetherBytes) continue;
        yield piece;
        piece = new DocumentsPiece(address, false);
      }
  if (piece.length > 0) yield piece;
}

/** Which snapshot, and how it is shown. */
interface SnapshotQuestion {
  environment: string;
  expression: string;
  rules: RulesShown;
  /** Of more artifacts than these none is shown, and their number is said. */
  most?: number | undefined;
}

/**
 * Reads a snapshot as JSON text (contract 4.2), made while it is sent. With rules said once, they come as `rules` at
 * the end.
 * @throws AppError not_found for unknown environments and snapshots, invalid for what is no expression.
 */
export async function readSnapshot(
  deps: Pick<Deps, "db" | "clock" | "links">,
  org: Org,
  { environment, expression, rules, most }: SnapshotQuestion,
): Promise<JsonPieces> {
  const found = await resolveSnapshot(deps, org, environment, expression);
  const { index } = found;
  const snapshot = { environment_id: found.environment.id, index };
  // Every number up to the count has its snapshot.
  const frame = await getSnapshotFrame(deps.db, org.id, snapshot);
  const page = deps.links.web(`/${org.name}/environments/${found.environment.name}/snapshots/${index}`);
  const address = inner(deps.links.web(`/${org.name}`));
  const isLeftOut = most !== undefined && frame.artifacts > most;

  async function* pieces(): AsyncGenerator<Piece> {
    yield `${frame.head.slice(0, -1)},"html_url":${JSON.stringify(page)},"artifacts":[`;
    const book = new RuleBook();
    if (!isLeftOut) yield* artifactPieces(deps, org, snapshot, { address, rules, book });
    yield '],"applied_policies":[';
    if (frame.applied_policies !== null) yield frame.applied_policies;
    else for await (const part of listAppliedPolicies(deps.db, org.id, snapshot)) yield* textPieces(part);
    yield "]";
    if (rules === "once") yield `,"rules":${JSON.stringify(book.rules)}`;
    yield isLeftOut ? `,"artifacts_left_out":${frame.artifacts}}` : "}";
  }

  // What a snapshot shows never changes, and all addresses in it begin as the page's, so that this says all of it.
  const version = [frame.head, snapshot.environment_id, page, rules, isLeftOut];
  return new JsonPieces(pieces(), JSON.stringify(version));
}
