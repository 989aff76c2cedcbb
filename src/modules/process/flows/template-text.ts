import type { UploadedFile } from "../../../contract/endpoint.ts";
import { showInput } from "../../../contract/input-errors.ts";
import { type AppError, invalid, invalidInput } from "../../../domain/errors.ts";
import { describeIssues, TemplateError } from "../../../domain/template/errors.ts";
import { readTemplate } from "../../../domain/template/parse.ts";
import { decodeText, TextError } from "../../../lib/decode.ts";
import { showPath } from "../../../lib/yaml-format.ts";
import { yamlOf } from "../../kernel/yaml.ts";

const part = "template_file";

/** Makes the error that answers a wrong template. */
export type TemplateComplaint = (error: TemplateError) => AppError;

/** Answers a wrong template of a flow: a failed validation, each place with its reason. */
export function complainByLocation(error: TemplateError): AppError {
  return invalidInput(
    Object.fromEntries(
      error.issues.map(({ path, reasons, input }) => [
        showPath([part, ...path]),
        `${reasons.join("; ")} [input: ${showInput(input)}]`,
      ]),
    ),
  );
}

/** Answers a wrong template of a trail: everything in one message (contract flows 3.9). */
export function complainInOneText(error: TemplateError): AppError {
  return invalid(`Template is not valid: ${describeIssues(error.issues)}`);
}

function decode(bytes: Buffer): string {
  try {
    return decodeText(bytes);
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    throw new TemplateError([{ path: [], reasons: [error.message], input: undefined }]);
  }
}

/**
 * Reads the text of an uploaded template, exactly as it came, and checks that it is one. Undefined without a file.
 * @throws AppError invalid, worded by `complain`; unavailable when too much waits to be read.
 */
export async function readTemplateFile(
  orgId: string,
  file: UploadedFile | undefined,
  complain: TemplateComplaint,
): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    const text = decode(file.bytes);
    await readTemplate(text, yamlOf(orgId));
    return text;
  } catch (error) {
    throw error instanceof TemplateError ? complain(error) : error;
  }
}
