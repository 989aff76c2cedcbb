import type { UploadedFile } from "../../../../contract/endpoint.ts";
import { showInput } from "../../../../contract/input-errors.ts";
import { invalidInput } from "../../../../domain/errors.ts";
import { PolicyError, policyInputErrors } from "../../../../domain/policy/errors.ts";
import type { Policy } from "../../../../domain/policy/model.ts";
import { readPolicy } from "../../../../domain/policy/parse.ts";
import { decodeText, TextError } from "../../../../lib/decode.ts";
import { yamlOf } from "../../../kernel/yaml.ts";

/** What the file is called in requests and in what is said about it. */
export const policyPart = "policy_file";

/** An uploaded policy: its text exactly as it came, and what it says. */
export interface PolicyFile {
  text: string;
  policy: Policy;
}

/** Makes the 400 for a policy without text. */
export function policyFileRequired(): Error {
  return invalidInput({ [policyPart]: `Field required [input: ${showInput(undefined)}]` });
}

/**
 * Reads an uploaded policy on behalf of an organization.
 * @throws AppError invalid with every mistake and its place, unavailable when too much waits to be read.
 */
export async function readPolicyFile(orgId: string, file: UploadedFile): Promise<PolicyFile> {
  try {
    const text = decodeText(file.bytes);
    return { text, policy: await readPolicy(text, yamlOf(orgId)) };
  } catch (error) {
    if (error instanceof TextError)
      throw invalidInput({ [policyPart]: `${error.message} [input: ${showInput(undefined)}]` });
    if (error instanceof PolicyError)
      throw invalidInput(policyInputErrors(error.issues, policyPart, showInput));
    throw error;
  }
}
