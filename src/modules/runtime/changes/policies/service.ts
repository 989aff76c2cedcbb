import { showInput } from "../../../../contract/input-errors.ts";
import type { Executor, Tx } from "../../../../db/connect.ts";
import { AppError, invalid, invalidInput } from "../../../../domain/errors.ts";
import { judgingLimits } from "../../../../domain/judging.ts";
import { maxPolicyBytes } from "../../../../domain/policies.ts";
import type { Policy } from "../../../../domain/policy/model.ts";
import { controlsOf } from "../../../../domain/policy/parse.ts";
import type { Org, OrgScope } from "../../../../domain/principal.ts";
import { sha256 } from "../../../../lib/hash.ts";
import { showPath } from "../../../../lib/yaml-format.ts";
import { recorded, type Recorder } from "../../../kernel/audit/service.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { listKnownControls } from "../../../process/controls/service.ts";
import { lockAll } from "../../environments/service.ts";
import { reevaluate, requireRecordedJudgeable } from "../../snapshots/report/evaluate-service.ts";
import { listConsumingIds } from "./attachment-store.ts";
import { policyFileRequired, policyPart, type PolicyFile } from "../../rules/policies/policy-file.ts";
import { queueReevaluation } from "../../snapshots/report/judging-jobs.ts";
import {
  type Authorship,
  countPolicyBytes,
  findPolicy,
  insertEvents,
  insertPolicy,
  insertVersion,
  lockPolicy,
  type NewEvent,
  type NewText,
  type PolicyRow,
  updatePolicy,
} from "./store.ts";

/** What a caller says about a policy. */
interface PolicyInput {
  name: string;
  description: string;
  comment: string;
  /** Undefined: the text stays. */
  file: PolicyFile | undefined;
}

/**
 * How many environments are judged again in the transaction that brings the new version. More of them get a job each, and
 * so do those in which there is more to judge together than is judged at once.
 */
const judgedAtOnce = 5;

/**
 * Lists the identifiers of the controls a policy names, each once.
 * @throws AppError invalid, at each place where an unknown control is named first.
 */
export async function requireControls(db: Executor, org: Org, policy: Policy): Promise<string[]> {
  const named = controlsOf(policy);
  const known = await listKnownControls(db, org.id, [...named.keys()]);
  const unknown = [...named].filter(([control]) => !known.has(control));
  if (unknown.length > 0)
    throw invalidInput(
      Object.fromEntries(
        unknown.map(([control, path]) => [
          showPath([policyPart, ...path]),
          `Control '${control}' does not exist in organization '${org.name}' [input: ${showInput(control)}]`,
        ]),
      ),
    );
  return [...named.keys()];
}

/**
 * Checks that there is room for a text of so many bytes.
 * @throws AppError invalid when the policies of the organization would become more than can be shown.
 */
async function requireRoom(tx: Tx, org: Org, bytes: number): Promise<void> {
  if ((await countPolicyBytes(tx, org.id)) + bytes > maxPolicyBytes)
    throw invalid(
      `The policies of an organization, with all their versions, may have ${maxPolicyBytes} bytes together`,
    );
}

function textOf(file: PolicyFile): NewText {
  return { text: file.text, digest: sha256(file.text), bytes: Buffer.byteLength(file.text) };
}

/** A write to one policy. */
interface Writing {
  tx: Tx;
  record: Recorder;
  org: Org;
  author: Authorship;
  input: PolicyInput;
}

async function createPolicy(deps: Deps, { tx, org, author, input }: Writing): Promise<boolean> {
  const { file, name, description, comment } = input;
  if (file === undefined) throw policyFileRequired();
  const controls = await requireControls(tx, org, file.policy);
  const text = textOf(file);
  await requireRoom(tx, org, text.bytes);
  const id = deps.ids.next();
  if (!(await insertPolicy(tx, org.id, { id, name, description, text }, author))) return false;
  const version = {
    policy_id: id,
    id: deps.ids.next(),
    version: 1,
    comment,
    text: file.text,
    controls,
  };
  await insertVersion(tx, org.id, version, author);
  await insertEvents(tx, org.id, id, [{ id: deps.ids.next(), type: "creation", data: {} }], author);
  return true;
}

/** Finds the uploaded text, when it is another than the policy has. */
function newTextOf({ file }: PolicyInput, policy: PolicyRow): PolicyFile | undefined {
  return file === undefined || sha256(file.text).equals(policy.text_digest) ? undefined : file;
}

async function appendVersion(deps: Deps, writing: Writing, policy: PolicyRow, file: PolicyFile) {
  const { tx, org, author, input } = writing;
  const controls = await requireControls(tx, org, file.policy);
  const text = textOf(file);
  await requireRoom(tx, org, text.bytes);
  const version = policy.version + 1;
  const row = { policy_id: policy.id, id: deps.ids.next(), comment: input.comment, text: file.text };
  await insertVersion(tx, org.id, { ...row, version, controls }, author);
  return text;
}

/** Writes what is new about a policy that the caller has locked. @returns what became of it, nothing included. */
async function changePolicy(deps: Deps, writing: Writing, policy: PolicyRow) {
  const { tx, org, author, input } = writing;
  const { description } = input;
  const file = newTextOf(input, policy);
  const text = file === undefined ? undefined : await appendVersion(deps, writing, policy, file);
  const events: NewEvent[] = [];
  if (description !== policy.description)
    events.push({ id: deps.ids.next(), type: "metadata_update", data: { description } });
  if (text !== undefined)
    events.push({ id: deps.ids.next(), type: "new_version", data: { version: policy.version + 1 } });
  if (events.length > 0) {
    await updatePolicy(tx, org.id, policy.id, { description, text, at: author.at });
    await insertEvents(tx, org.id, policy.id, events, author);
  }
  return { changed: events.length > 0, newVersion: text !== undefined };
}

/** An environment that a policy is attached to. */
interface Consumer {
  id: string;
  name: string;
}

/** Locks the environments that are going to be judged in this transaction, before the policy, as attaching does. */
async function lockConsumers({ tx, org, input }: Writing, policy: PolicyRow): Promise<Consumer[]> {
  if (newTextOf(input, policy) === undefined) return [];
  const ids = await listConsumingIds(tx, org.id, policy.id);
  return ids.length > judgedAtOnce ? [] : lockAll(tx, org, ids);
}

async function judgeConsumers(
  deps: Deps,
  { tx, org, record }: Writing,
  policy: PolicyRow,
  locked: readonly Consumer[],
): Promise<void> {
  const ids = await listConsumingIds(tx, org.id, policy.id);
  const sizes = await requireRecordedJudgeable(tx, org, ids);
  const evaluations = sizes.reduce((sum, size) => sum + size.evaluations, 0);
  const isShort = evaluations <= judgingLimits.evaluations;
  const atOnce = locked.filter(({ id }) => isShort && ids.includes(id));
  const environmentIds = atOnce.map(({ id }) => id);
  const judged = new Set(await reevaluate(deps, tx, org, { environmentIds, cause: "policy" }));
  for (const { id, name } of atOnce) if (judged.has(id)) record("environment", name);
  await queueReevaluation(
    tx,
    org,
    ids.filter((id) => !environmentIds.includes(id)),
  );
}

async function updateExisting(deps: Deps, writing: Writing, found: PolicyRow): Promise<void> {
  const { tx, org, record } = writing;
  const locked = await lockConsumers(writing, found);
  const policy = await lockPolicy(tx, org.id, found.name);
  if (policy === undefined)
    throw new AppError("conflict", `Policy '${found.name}' is being changed, try again`);
  const { changed, newVersion } = await changePolicy(deps, writing, policy);
  if (changed) record("policy", policy.name);
  if (newVersion) await judgeConsumers(deps, writing, policy, locked);
}

/**
 * Creates a policy, or replaces the description of the one of that name and, when the text is another than its latest,
 * appends a version and judges by it again wherever it is attached (contract environments 8.1). Of any number of
 * simultaneous calls one creates. A repetition changes and records nothing.
 * @throws AppError invalid for an unknown control, for a new policy without a file, when there is too much text, or when
 * somewhere it asks for more than can be judged at once.
 */
export function putPolicy(deps: Deps, scope: OrgScope, input: PolicyInput): Promise<"created" | "updated"> {
  const { org, actor } = scope;
  return recorded(deps, scope, async (tx, record) => {
    const writing = { tx, record, org, author: { at: deps.clock.now(), by: actor.name }, input };
    let found = await findPolicy(tx, org.id, input.name);
    if (found === undefined) {
      if (await createPolicy(deps, writing)) {
        record("policy", input.name);
        return "created";
      }
      found = await findPolicy(tx, org.id, input.name);
    }
    if (found === undefined)
      throw new AppError("conflict", `Policy '${input.name}' is being created, try again`);
    await updateExisting(deps, writing, found);
    return "updated";
  });
}
