import { JsonPieces, JsonText } from "../../../contract/endpoint.ts";
import type { Database } from "../../../db/connect.ts";
import { idsIn } from "../../../db/id-list.ts";
import { notFound } from "../../../domain/errors.ts";
import type { Org } from "../../../domain/principal.ts";
import { textPieces } from "../../../lib/text.ts";
import { noSuchType } from "./service.ts";
import { findTypeAtVersion, findTypeId, listTypeIds, noTypes, readTypes } from "./store.ts";

/** Types that are asked for at once: as many as are found together, as far as there is room for them. */
const typesAtOnce = 1000;

/** Which types are read. */
interface Asked {
  /** As `idText` writes them. */
  ids: string;
  archived: boolean;
}

/** Reads types as texts that follow each other, each when it is asked for; a comma stands between two types. */
async function* typeTexts(db: Database, org: Org, { ids: all, archived }: Asked): AsyncGenerator<string> {
  let isFirst = true;
  for (const ids of idsIn(all, typesAtOnce))
    for (let read = noTypes; read.place < ids.length || read.version > 1;) {
      const after = read;
      const slice = await db.sliced(() => readTypes(db, org, { ids, archived }, after));
      read = slice;
      if (slice.text === "") continue;
      // Before the first type there is nothing to divide it from.
      yield isFirst ? slice.text.slice(1) : slice.text;
      isFirst = false;
    }
}

async function* piecesOf(
  begin: string,
  first: string,
  rest: AsyncIterable<string>,
  end: string,
): AsyncGenerator<string> {
  yield begin;
  yield* textPieces(first);
  for await (const text of rest) yield* textPieces(text);
  yield end;
}

/** Makes a body of texts: ready where there is no more than one, else sent while they are read. */
async function bodyOf(
  begin: string,
  texts: AsyncGenerator<string>,
  end: string,
): Promise<JsonText | JsonPieces> {
  const first = await texts.next();
  if (first.done === true) return new JsonText(begin, end);
  const second = await texts.next();
  if (second.done === true) return new JsonText(begin, first.value, end);
  return new JsonPieces(piecesOf(begin, first.value + second.value, texts, end));
}

/** Lists the types that are not archived, newest first, with all their versions, newest first. */
export async function listTypes(db: Database, org: Org): Promise<JsonText | JsonPieces> {
  const ids = await listTypeIds(db, org.id);
  return bodyOf("[", typeTexts(db, org, { ids, archived: false }), "]");
}

/**
 * Reads a type, archived or not, with all its versions or with one of them.
 * @throws AppError not_found when there is no such type or version.
 */
export async function getType(
  db: Database,
  org: Org,
  name: string,
  version: number | undefined,
): Promise<JsonText | JsonPieces> {
  const found = version === undefined ? undefined : await findTypeAtVersion(db, org, name, version);
  if (found !== undefined) return new JsonText(found);
  const id = await findTypeId(db, org.id, name);
  if (id === undefined) throw noSuchType(name, org.name);
  if (version !== undefined)
    throw notFound(`version ${version} does not exist for custom attestation type '${name}'`);
  return bodyOf("", typeTexts(db, org, { ids: id, archived: true }), "");
}
