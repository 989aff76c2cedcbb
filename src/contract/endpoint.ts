import type { Readable } from "node:stream";

import type { z } from "zod";

import type { Role } from "../domain/roles.ts";
import type { ByteWriter } from "../lib/byte-writer.ts";
import { writeJson } from "../lib/exact-json.ts";
import type { Steps } from "../lib/steps.ts";
import { inTurn } from "../lib/in-turn.ts";
import { textPieces } from "../lib/text.ts";
import { isWide, widePieces } from "../lib/wide-json.ts";
import { type CsvForm, csvType } from "./csv.ts";
import type { EventStream } from "./event-stream.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Who may call an endpoint. There is no default: an endpoint that does not say cannot be written.
 *
 * - `public`: anybody, without credentials.
 * - `site`: anybody, from a page of this server: for what gives a browser a session.
 * - `user`: any valid key, whatever its organizations.
 * - `organization`: a key with at least `role` in the `{org}` of the path. `anonymous` lets anybody in when the
 *   organization is public. `unknown` is how an organization that does not exist is answered, `denied` the text for
 *   members whose role is too low, where it is not the usual one. `unbound` refuses keys that are bound to networks: for
 *   what lets somebody in who may come from anywhere.
 * - `instance_admin`: a key of a user who runs the installation; `orMetricsToken` lets in who has the token for metrics, also while the
 *   database does not answer.
 * - `signature`: the handler checks a signature over the body, or a key, itself.
 */
export type Access =
  | { kind: "public" }
  | { kind: "site" }
  | { kind: "user" }
  | {
      kind: "organization";
      role: Role;
      anonymous: boolean;
      unknown: "denied" | "not_found";
      denied?: string;
      unbound?: true;
    }
  | { kind: "instance_admin"; orMetricsToken?: true }
  | { kind: "signature" };

/** A form part with a file that is handed over in memory. */
interface BytesPart {
  kind?: "bytes";
  maxBytes: number;
  /** Answered with 413 when the file is larger. */
  tooLarge: string;
}

/**
 * A form part with a file of evidence, which is written to the evidence store while it arrives. Its size limit is
 * configured.
 */
interface EvidencePart {
  kind: "evidence";
}

/** A file part of a multipart body. Files are optional; the handler decides what a missing one means. */
export type FilePart = BytesPart | EvidencePart;

export type RequestBody =
  /**
   * With `summarize` it comes as a `SummarizedBody`: what it amounts to, for bodies that are sent again and again. Of the value that
   * the schema makes, and of nothing else.
   */
  | { kind: "json"; schema: z.ZodType; summarize?: (value: never) => Steps<unknown> }
  /** One form field holding JSON, and files. */
  | { kind: "multipart"; field: string; schema: z.ZodType; files: Record<string, FilePart> }
  /** Any bytes, handed over as received, before anybody knows who sent them: so they are few. */
  | { kind: "raw"; schema: z.ZodType; maxBytes: number };

/** A declared response of an endpoint. */
export interface Response {
  description: string;
  /** Absent for bodies that are not JSON. */
  schema?: z.ZodType;
  /** Media type when it is not JSON; all of them when it depends on what is asked for, the usual one first. */
  contentType?: string | readonly string[];
  /** Set when it can be had as CSV, too, with `Accept: text/csv`. Made by `withCsv`. */
  csv?: CsvForm;
}

/** Lists the media types that a response may have. */
export function contentTypesOf({ schema, contentType, csv }: Response): readonly string[] {
  if (schema !== undefined)
    return ["application/json; charset=utf-8", ...(csv === undefined ? [] : [csvType])];
  return contentType === undefined ? [] : [contentType].flat();
}

/** One operation of the public API. Routing, validation, OpenAPI and the access tests are derived from it. */
export interface Endpoint {
  method: Method;
  /** Below `/api/v2`. `{name}` is one segment, `{name...}` the rest of the path, slashes included. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  access: Access;
  params?: z.ZodType;
  query?: z.ZodType;
  /** Headers for the document; the handler reads them unparsed. */
  headers?: z.ZodType;
  body?: RequestBody;
  responses: Record<number, Response>;
  /**
   * Set when nothing is recorded, whatever the method: such an endpoint is answered even while recording is refused.
   */
  recordsNothing?: boolean;
  /**
   * Set for a read whose answer follows from the organization, the caller's role there, the address and what the database holds, so that it may be
   * given again to whoever asks for the same while nothing has been written: its handler is not told who asks. What it says of the time may be a
   * second old.
   */
  kept?: true;
  /** Set for a read that may be answered from a replica, where there is one: lists, statistics, search. */
  fromReplica?: boolean;
  /** Set for a read that shows a secret: nobody is to keep it, and it is not compressed. */
  showsSecret?: boolean;
  /**
   * Says whether a session that was begun at a sign-in provider needs a sign-in of the last half hour for this: for making keys and
   * changing members. Left out, deletion does and nothing else; `false` for what takes access away, which must not wait, and for
   * what can be put back.
   */
  recentSignIn?: boolean;
  deprecated?: boolean;
}

/** Says whether sessions that were begun at a provider need a recent sign-in for an endpoint. */
export function needsRecentSignIn({ method, recentSignIn }: Endpoint): boolean {
  return recentSignIn ?? method === "DELETE";
}

/** Endpoints by operation id. */
export type Endpoints = Record<string, Endpoint>;

/** Declares an endpoint, keeping the exact types of its parts. */
export function endpoint<const E extends Endpoint>(value: E): E {
  return value;
}

type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `${infer Base}...` ? Base : Name) | ParamNames<Rest>
  : never;

type PathParams<E extends Endpoint> = Record<ParamNames<E["path"]>, string> &
  (E["params"] extends z.ZodType ? z.output<E["params"]> : unknown);

type QueryOf<E extends Endpoint> = E["query"] extends z.ZodType ? z.output<E["query"]> : undefined;

/** A file as it arrived, with the name that the client gave it. */
export interface UploadedFile {
  filename: string;
  bytes: Buffer;
}

/**
 * A received file of evidence. Unless the handler calls `keep`, it is removed once the request has been answered,
 * whatever the answer.
 */
export interface UploadedEvidence {
  /** The file's name, made safe to show and store by `evidenceName`. */
  filename: string;
  /** The media type to serve it as. */
  content_type: string;
  /** Lower-case hex. */
  sha256: string;
  /** In bytes. */
  size: number;
  /** Makes the bytes durable under their digest. Calling it again does nothing. */
  keep(): Promise<void>;
}

/** A body that was found to be valid, now or when the very same bytes came before, in which case nobody has read it yet. */
export interface SummarizedBody<Summary, Value> {
  summary: Summary;
  read(): Promise<Value>;
}

type BodyOf<E extends Endpoint> = E["body"] extends { schema: infer S extends z.ZodType }
  ? E["body"] extends { summarize: (value: never) => Steps<infer Summary> }
    ? SummarizedBody<Summary, z.output<S>>
    : z.output<S>
  : undefined;

type FilesOf<E extends Endpoint> = E["body"] extends { kind: "multipart"; files: infer F }
  ? { [Name in keyof F]?: F[Name] extends EvidencePart ? UploadedEvidence : UploadedFile }
  : undefined;

/** The parsed parts of a request that the contract describes. */
export interface Input<E extends Endpoint> {
  params: PathParams<E>;
  query: QueryOf<E>;
  body: BodyOf<E>;
  files: FilesOf<E>;
}

/** Longest text that is sent together with the headers; longer text is not copied again. */
export const shortLength = 4096;

/** A long text that is encoded when it is sent. */
export interface WrittenText {
  /** About how many bytes it takes. */
  length: number;
  writeTo(writer: ByteWriter): void;
}

/** A JSON body that is ready text, for instance built by the database. */
export class JsonText implements WrittenText {
  readonly #parts: readonly (string | WrittenText)[];

  /**
   * Makes a body of parts.
   * @param parts texts that follow each other. Pass long ones as they are: joining copies them.
   */
  constructor(...parts: (string | WrittenText)[]) {
    this.#parts = parts;
  }

  get length(): number {
    return this.#parts.reduce((sum, part) => sum + part.length, 0);
  }

  /** Gives the text if it is short enough to be sent as one string. */
  short(): string | undefined {
    const isShort = this.length <= shortLength && this.#parts.every((part) => typeof part === "string");
    return isShort ? this.#parts.join("") : undefined;
  }

  writeTo(writer: ByteWriter): void {
    for (const part of this.#parts)
      if (typeof part === "string") writer.text(part);
      else part.writeTo(writer);
  }

  /** Gives the text a piece at a time. */
  *pieces(): Generator<Piece> {
    for (const part of this.#parts)
      if (typeof part === "string") yield* textPieces(part);
      else yield part;
  }
}

/** A part of a long answer. */
export type Piece = string | Buffer | WrittenText;

/** A place in a body of pieces at which nothing comes for a while: what came before is sent, and others may send meanwhile. */
export class Pause {
  /** Resolves when the next piece is to be made. */
  readonly over: Promise<unknown>;

  constructor(over: Promise<unknown>) {
    this.over = over;
  }
}

/**
 * A JSON body that is made while it is sent, because it may be of any length. Find out what can fail before returning
 * it: when something fails later, the answer breaks off.
 */
export class JsonPieces {
  /** The pieces. Each is asked for when those before have been sent: hold nothing meanwhile that others need. */
  readonly pieces: AsyncIterable<Piece>;
  /** A text that is another one whenever the body is: who has the body already is told so before any of it is made. */
  readonly version: string | undefined;

  constructor(pieces: AsyncIterable<Piece>, version?: string) {
    this.pieces = pieces;
    this.version = version;
  }
}

/** Writes a JSON body in which `ExactJson` stays as it was written: while it is sent, where it is wide. */
export function exactBody(body: object): JsonText | JsonPieces {
  return isWide(body) ? new JsonPieces(inTurn(widePieces(body, writeJson))) : new JsonText(writeJson(body));
}

type ResponseBody<R> = R extends { schema: infer S extends z.ZodType }
  ? z.output<S> | JsonText | JsonPieces
  : string | Buffer | Readable | EventStream;

/** One of the endpoint's declared responses. */
export type Reply<E extends Endpoint> = {
  [Status in keyof E["responses"] & number]: {
    status: Status;
    body: ResponseBody<E["responses"][Status]>;
    headers?: Record<string, string>;
  };
}[keyof E["responses"] & number];
