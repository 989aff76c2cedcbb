import { showInput } from "../../contract/input-errors.ts";
import type { Executor } from "../../db/connect.ts";
import { invalidInput } from "../../domain/errors.ts";
import { issueLocation } from "../../domain/policy/errors.ts";
import type { Policy } from "../../domain/policy/model.ts";
import { controlsOf } from "../../domain/policy/parse.ts";
import { listKnownControls } from "../controls/service.ts";
import type { Org } from "../environments/find-service.ts";
import { policyPart } from "./policy-file.ts";

/**
 * The identifiers of the controls a policy names, each once.
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
          issueLocation([policyPart, ...path]),
          `Control '${control}' does not exist in organization '${org.name}' [input: ${showInput(control)}]`,
        ]),
      ),
    );
  return [...named.keys()];
}
