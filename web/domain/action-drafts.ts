import {
  addressesIn,
  type DraftTarget,
  draftTargets,
  type EnvironmentTrigger,
  type FlowTrigger,
  givenTargets,
  offeredTriggers,
  type StoredTarget,
  triggerWords,
} from "./actions.ts";

/** What an action watches. */
export type ActionType = "env" | "flow";

/** An action while it is written. */
export interface ActionDraft {
  name: string;
  /** Names of environments or flows. */
  subjects: string[];
  /** A name that was typed, and not added yet. */
  typed: string;
  triggers: readonly string[];
  targets: DraftTarget[];
}

/** An action as it is sent. */
type Written = { name: string; targets: ReturnType<typeof givenTargets> };
export type WrittenAction =
  | (Written & { type: "env"; environments: string[]; triggers: EnvironmentTrigger[] })
  | (Written & { type: "flow"; flows: string[]; triggers: FlowTrigger[] });

/** What a new action begins with. */
export const actionStart: ActionDraft = {
  name: "",
  subjects: [],
  typed: "",
  triggers: [],
  targets: [{ key: 0, type: "WEBHOOK", webhook: "", emails: "" }],
};

interface StoredAction {
  name: string;
  environments?: readonly string[] | null | undefined;
  flows?: readonly string[] | null | undefined;
  triggers: readonly string[];
  targets: readonly StoredTarget[];
}

/** Reads a stored action as something to be written on. */
export function actionDraft({ name, environments, flows, triggers, targets }: StoredAction): ActionDraft {
  const subjects = [...(environments ?? flows ?? [])];
  return { name, subjects, typed: "", triggers, targets: draftTargets(targets) };
}

/** Writes an action as the API takes it. */
export function writtenAction(type: ActionType, draft: ActionDraft): WrittenAction {
  const given = { name: draft.name, targets: givenTargets(draft.targets) };
  const isChosen = (trigger: string): boolean => draft.triggers.includes(trigger);
  if (type === "flow")
    return { ...given, type, flows: draft.subjects, triggers: offeredTriggers.flow.filter(isChosen) };
  return { ...given, type, environments: draft.subjects, triggers: offeredTriggers.env.filter(isChosen) };
}

/** Says what is still missing, which the browser cannot tell by itself. */
export function missingIn(type: ActionType, draft: ActionDraft): string | undefined {
  const typed = draft.typed.trim();
  if (typed !== "") return `Add ${typed} or remove it`;
  if (draft.subjects.length === 0)
    return type === "env" ? "Choose an environment first" : "Choose a flow first";
  if (writtenAction(type, draft).triggers.length === 0) return "Choose when it happens first";
  return draft.targets.length === 0 ? "Choose who is told first" : undefined;
}

const targetText = ({ type, webhook, emails }: DraftTarget): string =>
  `${type} ${type === "EMAIL" ? addressesIn(emails).join(", ") : webhook.trim()}`.trim();

/** Writes what a draft says as a text, by which two of them can be compared line by line. */
export function actionText(type: ActionType, draft: ActionDraft): string {
  const { triggers } = writtenAction(type, draft);
  const parts: (readonly [string, readonly string[]])[] = [
    ["Name", [draft.name]],
    ["In", draft.subjects],
    ["When", triggers.map((trigger) => triggerWords[trigger])],
    ["Tell", draft.targets.map(targetText)],
    ["Typed", draft.typed.trim() === "" ? [] : [draft.typed.trim()]],
  ];
  return parts
    .filter(([, lines]) => lines.length > 0)
    .map(([head, lines]) => `${head}\n${lines.join("\n")}\n`)
    .join("\n");
}

/**
 * Makes a draft that is to be saved over what somebody else has stored meanwhile. Addresses that are not shown are kept by their place, and
 * where theirs are others by now, all have to be given anew.
 * @param begun what the draft was begun on. @param kept what is stored now.
 */
export function draftOverTheirs(draft: ActionDraft, begun: ActionDraft, kept: ActionDraft): ActionDraft {
  const places = ({ targets }: ActionDraft): string => targets.map(({ type }) => type).join(" ");
  if (places(begun) === places(kept)) return draft;
  return { ...draft, targets: draft.targets.map(({ was: _was, ...fresh }) => fresh) };
}
