import { JsonPieces } from "../../../../contract/endpoint.ts";
import { notFound } from "../../../../domain/errors.ts";
import { unknownPolicy } from "../../../../domain/policies.ts";
import type { Org } from "../../../../domain/principal.ts";
import type { NonEmpty } from "../../../../lib/group.ts";
import { arrayPieces } from "../../../../lib/json-array.ts";
import { itemPieces, largerPieces } from "../../../../lib/wide-json.ts";
import type { Deps } from "../../../kernel/deps.ts";
import {
  findPolicyKey,
  getPolicyHead,
  listConsumingNames,
  listPolicyEvents,
  listPolicyKeys,
  listPolicyVersions,
  type PolicyKey,
  readPolicies,
} from "./read-store.ts";

type Reading = Pick<Deps, "db">;

/** Policies read together: so many, and of so many bytes. */
const together = { policies: 50, bytes: 512 * 1024 };

/** Groups neighbours that are read together; a policy of many bytes is alone. */
function batchesOf(keys: readonly PolicyKey[]): NonEmpty<PolicyKey>[] {
  const batches: NonEmpty<PolicyKey>[] = [];
  let bytes = Infinity;
  for (const key of keys) {
    const last = batches.at(-1);
    bytes += key.bytes;
    if (last !== undefined && bytes <= together.bytes && last.length < together.policies) last.push(key);
    else {
      batches.push([key]);
      bytes = key.bytes;
    }
  }
  return batches;
}

/** Reads a policy of any length. */
async function* policyPieces({ db }: Reading, org: Org, { id }: PolicyKey): AsyncGenerator<string> {
  yield `${(await getPolicyHead(db, org.id, id)).slice(0, -1)},"versions":`;
  yield* arrayPieces(listPolicyVersions(db, org.id, id));
  yield ',"events":';
  yield* arrayPieces(listPolicyEvents(db, org.id, id));
  yield ',"consuming_envs":';
  yield* largerPieces(itemPieces(await listConsumingNames(db, org.id, id)));
  yield "}";
}

async function* batchPieces(deps: Reading, org: Org, keys: readonly PolicyKey[]): AsyncGenerator<string> {
  let separator = "";
  for (const batch of batchesOf(keys)) {
    yield separator;
    const ids = batch.map(({ id }) => id);
    if (batch.every(({ bytes }) => bytes <= together.bytes)) yield await readPolicies(deps.db, org.id, ids);
    else yield* policyPieces(deps, org, batch[0]);
    separator = ",";
  }
}

/** Reads every policy with all its versions, by name, as JSON text made while it is sent. */
export async function readAllPolicies(deps: Reading, org: Org): Promise<JsonPieces> {
  const keys = await listPolicyKeys(deps.db, org.id);
  async function* pieces(): AsyncGenerator<string> {
    yield "[";
    yield* batchPieces(deps, org, keys);
    yield "]";
  }
  return new JsonPieces(pieces());
}

/** Reads a policy with all its versions, as JSON text made while it is sent. @throws AppError not_found. */
export async function readPolicy(deps: Reading, org: Org, name: string): Promise<JsonPieces> {
  const key = await findPolicyKey(deps.db, org.id, name);
  if (key === undefined) throw notFound(unknownPolicy(name, org.name));
  return new JsonPieces(batchPieces(deps, org, [key]));
}
