import { addAbortSignal, Readable } from "node:stream";

import type { MultipartFile } from "@fastify/multipart";
import type { FastifyRequest } from "fastify";

import type { FilePart, RequestBody, UploadedEvidence, UploadedFile } from "../contract/endpoint.ts";
import { AppError, invalidInput } from "../domain/errors.ts";
import { sha256InTurns } from "../lib/hash-in-turns.ts";
import { isLargeJson, JsonError, parseJsonInTurns, type Places } from "../lib/json.ts";
import { joinBytes } from "../lib/join-bytes.ts";
import { present } from "../lib/present.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { createIntake, type EvidenceIntake } from "./evidence-part.ts";
import type { Reception } from "./intake.ts";
import { readLoneField } from "./lone-field.ts";

type MultipartBody = Extract<RequestBody, { kind: "multipart" }>;

export type AnyFile = UploadedFile | UploadedEvidence;

export interface Multipart {
  /** The JSON field. */
  value: unknown;
  isLarge: boolean;
  files: Record<string, AnyFile>;
  /** SHA-256 over the JSON field and the digests of the files, in order of their names. */
  digest: Buffer;
  /** Bytes of the JSON field. */
  bytes: number;
  /** Forgets evidence that was not kept. To be called whatever becomes of the request. */
  discard: () => Promise<void>;
}

/** JSON fields may be as large as files: some clients inline what others attach. */
const maxFieldBytes = 10 * 1024 * 1024;

/** Fields and dropped files together; each file that is wanted has a limit of its own. */
const maxBodyBytes = 22 * 1024 * 1024;

/** Makes the error for a field that is no JSON. */
export function notJsonField(field: string, error: JsonError): AppError {
  return invalidInput({ [field]: `Invalid JSON: ${error.message} [input: …]` });
}

async function parseField(field: string, bytes: Buffer, exact: Places | undefined): Promise<unknown> {
  try {
    return await parseJsonInTurns(bytes, exact);
  } catch (error) {
    throw error instanceof JsonError ? notJsonField(field, error) : error;
  }
}

function translate(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const code = error instanceof Error ? (error as { code?: string }).code : undefined;
  if (code === "FST_REQ_FILE_TOO_LARGE")
    return new AppError("too_large", "Request body has a file that is too large");
  if (code?.endsWith("_LIMIT") === true) return new AppError("too_large", "Request body has too many parts");
  return new AppError("invalid", "Request body is not valid multipart/form-data", { cause: error });
}

/** Passes on the pieces of a file that goes to the disk, or nowhere. */
async function* passing(file: MultipartFile, reception: Reception): AsyncGenerator<Buffer> {
  // Past its limit nothing of a file is handed over, and the request is refused.
  file.file.once("limit", () => reception.drop());
  for await (const chunk of file.file as AsyncIterable<Buffer>) {
    reception.gone(chunk.length);
    yield chunk;
  }
}

async function readFile(file: MultipartFile, part: FilePart, { intake, reception }: Into): Promise<AnyFile> {
  if (part.kind === "evidence") return intake.receive(Readable.from(passing(file, reception)), file.filename);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of file.file as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > part.maxBytes) throw new AppError("too_large", part.tooLarge);
    chunks.push(chunk);
  }
  return { filename: file.filename, bytes: Buffer.concat(chunks) };
}

/** Reads the bytes of the JSON field. */
async function readField(
  field: string,
  part: MultipartFile,
  receive: (length: number) => void,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of part.file as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxFieldBytes) throw new AppError("too_large", `Field ${field} is too large`);
    receive(chunk.length);
    chunks.push(chunk);
  }
  return joinBytes(chunks, size);
}

/** Where what arrives goes to, and is counted. */
interface Into {
  intake: EvidenceIntake;
  reception: Reception;
  /** Aborted when the body has to end early: what a part still lacks does not come then. */
  refused: AbortSignal;
  /** Bytes of the largest file there may be. */
  largest: number;
}

interface Parts {
  /** The JSON field. */
  json: Buffer;
  files: Record<string, AnyFile>;
}

async function readParts(request: FastifyRequest, spec: MultipartBody, into: Into): Promise<Parts> {
  const files: Record<string, AnyFile> = {};
  let json: Buffer | undefined;
  let received = 0;
  const receive = (length: number): void => {
    received += length;
    if (received > maxBodyBytes) throw new AppError("too_large", "Request body is too large");
  };
  const fileSize = Math.max(into.largest, maxFieldBytes) + 1;
  for await (const part of request.files({ limits: { fileSize, parts: 24 }, isPartAFile })) {
    addAbortSignal(into.refused, part.file);
    if (part.fieldname === spec.field) json = await readField(spec.field, part, receive);
    else {
      const known = Object.hasOwn(spec.files, part.fieldname) ? spec.files[part.fieldname] : undefined;
      if (known === undefined) for await (const chunk of passing(part, into.reception)) receive(chunk.length);
      else if (files[part.fieldname] !== undefined)
        throw invalidInput({ [part.fieldname]: "Only one file may be sent here" });
      else files[part.fieldname] = await readFile(part, known, into);
    }
  }
  if (json === undefined) throw invalidInput({ [spec.field]: "Field required [input: None]" });
  return { json, files };
}

/**
 * Has each part handed over as it arrives, also where no name of a file came with it. A field would be held whole, decoded with other
 * characters in place of what is not UTF-8, and parsed in one piece where it is said to be JSON, before anybody counts it.
 */
const isPartAFile = (): boolean => true;

/** Reads the parts, unless the body comes too slowly or takes too much memory. */
function receiveParts(
  request: FastifyRequest,
  spec: MultipartBody,
  more: Pick<Into, "intake" | "largest">,
): Promise<Parts> {
  const { raw, server } = request;
  const refusal = new AbortController();
  return new Promise<Parts>((resolve, reject) => {
    const stop = (): void => {
      raw.off("data", arrived);
      reception.end();
    };
    const refuse = (error: unknown): void => {
      stop();
      reject(error);
      refusal.abort(error);
    };
    const arrived = (chunk: Buffer): void => reception.arrived(chunk.length);
    const reception = server.intake.begin(request, refuse);
    // The parts are asked for in the same turn, before anything can arrive.
    raw.on("data", arrived);
    readParts(request, spec, { ...more, reception, refused: refusal.signal }).then((parts) => {
      stop();
      resolve(parts);
    }, refuse);
  });
}

/** Bytes of a body up to which it is looked at as a whole. */
const smallBody = 64 * 1024;

/**
 * Reads a small body that has arrived and is the JSON field and nothing else.
 * @returns undefined for any other, which is left as it was.
 */
function readArrived(request: FastifyRequest, { field }: MultipartBody): Buffer | undefined {
  const { raw, server } = request;
  const { "content-length": announced, "content-type": contentType } = request.headers;
  const length = Number(announced ?? Number.NaN);
  if (!raw.complete || !(length <= smallBody) || raw.readableLength !== length) return undefined;
  const body = raw.read() as Buffer | null;
  if (body === null) return undefined;
  const json = readLoneField(body, contentType, field);
  if (json === undefined) {
    raw.unshift(body);
    return undefined;
  }
  let refusal: AppError | undefined;
  const reception = server.intake.begin(request, (error) => (refusal = error));
  reception.arrived(length);
  reception.end();
  if (refusal !== undefined) throw refusal;
  return json;
}

/** Says how large a file of the body may be at most; each is held to its own limit when it is read. */
function largestFile(spec: MultipartBody, maxEvidenceBytes: number): number {
  const sizes = Object.values(spec.files).map((part) =>
    part.kind === "evidence" ? maxEvidenceBytes : part.maxBytes,
  );
  return Math.max(0, ...sizes);
}

async function digestOf({ json, files }: Parts): Promise<Buffer> {
  const parts: Buffer[] = [json];
  for (const name of Object.keys(files).sort()) {
    const file = present(files[name], "its name was listed");
    parts.push("bytes" in file ? await sha256InTurns([file.bytes]) : Buffer.from(file.sha256, "hex"));
  }
  return sha256InTurns(parts);
}

/**
 * Reads a multipart body: one form field of JSON, and the files the endpoint knows, in any order. Others are read and
 * dropped. Evidence goes to the store while it arrives.
 * @throws AppError invalid when the field is missing, is not JSON, or the body is not multipart; too_large past a limit.
 */
export async function readMultipart(
  request: FastifyRequest,
  spec: MultipartBody,
  deps: Pick<Deps, "evidence" | "config"> & { exact: Places | undefined },
): Promise<Multipart> {
  if (!request.isMultipart()) throw invalidInput({ [spec.field]: "Field required [input: None]" });
  const intake = createIntake(deps);
  try {
    const largest = largestFile(spec, deps.config.evidence.maxBytes);
    const arrived = readArrived(request, spec);
    const parts =
      arrived === undefined
        ? await receiveParts(request, spec, { intake, largest })
        : { json: arrived, files: {} };
    await request.server.largeBodies.enter(request, parts.json);
    return {
      value: await parseField(spec.field, parts.json, deps.exact),
      isLarge: isLargeJson(parts.json),
      files: parts.files,
      digest: await digestOf(parts),
      bytes: parts.json.length,
      discard: () => intake.discard(),
    };
  } catch (error) {
    // The rest of the body has to go somewhere, or the client never gets to read the answer.
    request.bodyIsRead?.();
    request.raw.unpipe();
    request.raw.resume();
    await intake.discard();
    throw translate(error);
  }
}
