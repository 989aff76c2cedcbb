import { createHash } from "node:crypto";

import type { FastifyRequest } from "fastify";

import type { RequestBody, UploadedFile } from "../contract/endpoint.ts";
import { AppError, invalidInput } from "../domain/errors.ts";
import { sha256 } from "../lib/hash.ts";
import { JsonError, parseJson } from "../lib/json.ts";

type MultipartBody = Extract<RequestBody, { kind: "multipart" }>;

export interface Multipart {
  body: unknown;
  files: Record<string, UploadedFile>;
  /** SHA-256 over the JSON field and the digests of the files, in order of their names. */
  digest: Buffer;
}

/** JSON fields may be as large as files: some clients inline what others attach. */
const maxFieldBytes = 10 * 1024 * 1024;

/** All parts together, those that are dropped included: a full field and a full file, and their wrapping. */
const maxBodyBytes = 22 * 1024 * 1024;

function parseField(field: string, text: string): unknown {
  try {
    return parseJson(Buffer.from(text, "utf8"));
  } catch (error) {
    if (error instanceof JsonError)
      throw invalidInput({ [field]: `Invalid JSON: ${error.message} [input: …]` });
    throw error;
  }
}

function translate(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const code = error instanceof Error ? (error as { code?: string }).code : undefined;
  if (code === "FST_REQ_FILE_TOO_LARGE") return new AppError("too_large", "File size exceeds 10MB limit");
  if (code?.endsWith("_LIMIT") === true) return new AppError("too_large", "Request body has too many parts");
  return new AppError("invalid", "Request body is not valid multipart/form-data", { cause: error });
}

async function readParts(
  request: FastifyRequest,
  spec: MultipartBody,
): Promise<Omit<Multipart, "digest"> & { text: string }> {
  const files: Record<string, UploadedFile> = {};
  let text: string | undefined;
  const largest = Math.max(0, ...Object.values(spec.files).map((file) => file.maxBytes));
  const parts = request.parts({
    limits: { fieldSize: maxFieldBytes, fileSize: largest, files: 4, fields: 20, parts: 24 },
  });
  let received = 0;
  const receive = (length: number): void => {
    received += length;
    if (received > maxBodyBytes) throw new AppError("too_large", "Request body is too large");
  };
  for await (const part of parts) {
    if (part.type === "file") {
      const limit = spec.files[part.fieldname];
      const bytes = await part.toBuffer();
      receive(bytes.length);
      if (limit === undefined) continue;
      if (bytes.length > limit.maxBytes) throw new AppError("too_large", limit.tooLarge);
      files[part.fieldname] = { filename: part.filename, bytes };
    } else {
      const value = String(part.value);
      receive(value.length);
      if (part.fieldname !== spec.field) continue;
      if (part.valueTruncated) throw new AppError("too_large", `Field ${spec.field} is too large`);
      text = value;
    }
  }
  if (text === undefined) throw invalidInput({ [spec.field]: "Field required [input: None]" });
  return { body: parseField(spec.field, text), files, text };
}

/**
 * Reads a multipart body: one form field of JSON, and the files the endpoint knows. Others are read and dropped.
 * @throws AppError invalid when the field is missing, is not JSON, or the body is not multipart; too_large past a limit.
 */
export async function readMultipart(request: FastifyRequest, spec: MultipartBody): Promise<Multipart> {
  if (!request.isMultipart()) throw invalidInput({ [spec.field]: "Field required [input: None]" });
  try {
    const { text, ...parts } = await readParts(request, spec);
    const digest = createHash("sha256").update(text);
    for (const name of Object.keys(parts.files).sort()) digest.update(sha256(parts.files[name]!.bytes));
    return { ...parts, digest: digest.digest() };
  } catch (error) {
    throw translate(error);
  }
}
