import { groupBy } from "../lib/group.ts";

/** What changes in an organization, as it is told to those who watch: names of what to look at again, and nothing of what it says. */

/** What there is news of. */
export const topics = [
  "environment",
  "flow",
  "trail",
  "artifact",
  "policy",
  "control",
  "attestation_type",
  "repo",
  "allow_list",
  "action",
  "delivery",
  "integration",
  "space",
  "member",
  "service_account",
  "organization",
] as const;

export type Topic = (typeof topics)[number];

/** Something to look at again. */
export interface Change {
  topic: Topic;
  /** As its address has it: `prod`, `web-ci/v1.2` for a trail. Null for more of the topic than are named one by one. */
  name: string | null;
  /** The number of a new snapshot. */
  index: number | null;
}

/** A thing that was written, as the audit log names it. */
export interface Written {
  resource_type: string;
  resource: string;
}

const plain: Readonly<Record<string, Topic>> = {
  environment: "environment",
  flow: "flow",
  trail: "trail",
  artifact: "artifact",
  policy: "policy",
  control: "control",
  custom_attestation_type: "attestation_type",
  repo: "repo",
  action: "action",
  notification_delivery: "delivery",
  integration: "integration",
  space: "space",
  member: "member",
  service_account: "service_account",
  organization: "organization",
};

const beforeSlash = (text: string): string => text.slice(0, Math.max(0, text.indexOf("/")));

/**
 * Says what is to be looked at again when this was written. Attestations are named by the trails and artifacts that they are
 * on, which others know. Nothing for what only its owner sees.
 */
export function changesBy({ resource_type: type, resource }: Written): Change[] {
  const change = (topic: Topic, name: string, index: number | null = null): Change => ({
    topic,
    name,
    index,
  });
  const topic = plain[type];
  if (topic !== undefined) return [change(topic, resource)];
  if (type === "snapshot") {
    const [, name = resource, index] = /^(.*)#(\d+)$/s.exec(resource) ?? [];
    return [change("environment", name, index === undefined ? null : Number(index))];
  }
  // What runs is judged again by what is allowed.
  if (type === "allowlist")
    return [change("allow_list", resource), change("environment", beforeSlash(resource))];
  if (type === "quality_delivery") return [change("integration", "quality")];
  // Keys of service accounts stand below their names, those of people by themselves.
  if (type === "api_key" && resource.includes("/")) return [change("service_account", beforeSlash(resource))];
  return [];
}

/** Things of one topic that are named at a time; of more, only that there are. */
export const mostNames = 50;

/**
 * Says what is to be looked at again when all of this was written. Of a kind with more than are named there may be others, which
 * nobody has listed.
 */
export function changesByAll(written: readonly Written[]): Change[] {
  return [...groupBy(written, ({ resource_type }) => resource_type).values()].flatMap((kind) => {
    const changes = kind.flatMap(changesBy);
    if (kind.length <= mostNames) return changes;
    return [...new Set(changes.map(({ topic }) => topic))].map((topic) => anyOf(topic));
  });
}

/** Makes the change of a topic of which nobody says what changed. */
export function anyOf(topic: Topic): Change {
  return { topic, name: null, index: null };
}

/** Puts together what is told at a time: each thing once, with the latest number that it has. */
export function gatherChanges(changes: Iterable<Change>): Change[] {
  const byTopic = new Map<Topic, Map<string | null, Change>>();
  for (const change of changes) {
    const named = byTopic.get(change.topic) ?? new Map<string | null, Change>();
    byTopic.set(change.topic, named);
    const index = Math.max(change.index ?? 0, named.get(change.name)?.index ?? 0);
    named.set(change.name, { ...change, index: index === 0 ? null : index });
  }
  return [...byTopic].flatMap(([topic, named]) =>
    named.size > mostNames || named.has(null) ? [anyOf(topic)] : [...named.values()],
  );
}

/** How far somebody has been told: the number in the audit log, and the moment in Unix seconds of what has no number there. */
export interface Position {
  seq: number;
  at: number;
}

/** Writes a position as the id of an event. */
export function positionText({ seq, at }: Position): string {
  return `${seq}-${Math.floor(at)}`;
}

/** Reads the id of an event; undefined for what is none. */
export function parsePosition(text: string): Position | undefined {
  const [, seq, at] = /^(\d{1,15})-(\d{1,12})$/.exec(text) ?? [];
  return seq === undefined || at === undefined ? undefined : { seq: Number(seq), at: Number(at) };
}
