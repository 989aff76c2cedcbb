import type { OpenTarget, SlackContext, TargetSecret, TargetType } from "../../../domain/actions.ts";
import { type InputErrors, invalidInput } from "../../../domain/errors.ts";
import { maskUrl, targetUrlProblem } from "../../../domain/network/target-url.ts";
import type { SecretBox } from "../../../lib/secret-box.ts";

/** A target as the contract's body schema leaves it. */
export type GivenTarget =
  | { type: "WEBHOOK"; webhook: string; payload_version: "1.0" }
  | { type: "SLACK"; webhook: string; context?: SlackContext | null | undefined }
  | { type: "EMAIL"; emails: string[] };

/** Takes the part of a target that may be shown. */
export function openTarget(target: GivenTarget): OpenTarget {
  switch (target.type) {
    case "WEBHOOK":
      return { type: target.type, payload_version: target.payload_version };
    case "SLACK":
      return { type: target.type, context: target.context ?? null };
    case "EMAIL":
      return { type: target.type, emails: target.emails };
  }
}

/** The target that an action had in the same place before. */
interface KnownSecret {
  type: TargetType;
  secret: TargetSecret;
}

/**
 * Checks and lists the webhook addresses of the targets; null for e-mail. An empty address is the known one of the target of
 * the same type in the same place.
 * @throws AppError invalid, showing of an address no more than its host.
 */
export function targetSecrets(
  targets: readonly GivenTarget[],
  known: readonly KnownSecret[],
  allowPrivate: boolean,
): TargetSecret[] {
  const errors: InputErrors = {};
  const secrets = targets.map((target, index) => {
    if (target.type === "EMAIL") return null;
    const before = known[index];
    if (target.webhook === "" && before?.type === target.type && before.secret !== null) return before.secret;
    const problem = targetUrlProblem(target.webhook, allowPrivate);
    if (problem !== undefined)
      errors[`targets[${index}].webhook`] =
        `${problem} [input: ${target.webhook === "" ? "" : maskUrl(target.webhook)}]`;
    return target.webhook;
  });
  if (Object.keys(errors).length > 0) throw invalidInput(errors);
  return secrets;
}

/** Seals the webhook addresses of an action, all together. */
export function sealSecrets(box: SecretBox, secrets: readonly TargetSecret[]): Buffer {
  return box.seal(JSON.stringify(secrets));
}

/**
 * Opens the webhook addresses of an action. Undefined when they were forgotten, or sealed with a key this installation no longer
 * has: such an action equals no other and can be replaced, not repaired.
 */
export function openSecrets(box: SecretBox, sealed: Uint8Array | null): TargetSecret[] | undefined {
  if (sealed === null) return undefined;
  try {
    return JSON.parse(box.open(sealed)) as TargetSecret[];
  } catch {
    return undefined;
  }
}
