import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

interface StoredObject {
  bytes: Buffer;
  modified: Date;
}

/** What tests may ask of the running server, beside the protocol. */
export interface S3Control {
  /** Of all objects, sorted. */
  keys(): string[];
  read(key: string): Buffer | undefined;
  /** Puts an object there, or damages one. */
  write(key: string, bytes: Buffer): void;
  /** Makes all objects older. */
  age(seconds: number): void;
  /** Forgets objects, requests and failures to come. */
  clear(): void;
  /** Method and path of each request since then. */
  requests(): string[];
  /** Answers so many requests of the method with 503 from now on. */
  failNext(method: string, times: number): void;
}

/** A question over the channel between the processes, and its answer. */
export interface S3Question {
  id: number;
  name: keyof S3Control;
  given: unknown[];
}
export interface S3Answer {
  id: number;
  result: unknown;
}

const pageSize = 3;

function fail(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { "content-type": "application/xml" });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}

/** Who may use the server. */
export interface S3Credentials {
  accessKey: string;
  secretKey: string;
  region: string;
}

const maxSkewMs = 15 * 60 * 1000;

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function hex(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function canonicalQuery(url: URL): string {
  const pairs = [...url.searchParams].map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  return pairs.sort().join("&");
}

/** The code of what is wrong with the signature (version 4) of a request; undefined when it is right. */
function signatureFault(request: IncomingMessage, url: URL, known: S3Credentials): string | undefined {
  const { headers } = request;
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([\w-]+)\/s3\/aws4_request, ?SignedHeaders=([\w;-]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? "",
    );
  if (found === null) return "AccessDenied";
  const [, accessKey, day = "", region, names = "", signature] = found;
  if (accessKey !== known.accessKey) return "InvalidAccessKeyId";
  if (region !== known.region) return "AuthorizationHeaderMalformed";
  const signed = names.split(";");
  const required = ["host", ...Object.keys(headers).filter((name) => name.startsWith("x-amz-"))];
  if (!["x-amz-date", "x-amz-content-sha256", ...required].every((name) => signed.includes(name)))
    return "AccessDenied";
  const moment = String(headers["x-amz-date"]);
  const iso = moment.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z");
  if (!(Math.abs(Date.parse(iso) - Date.now()) < maxSkewMs) || !moment.startsWith(day))
    return "RequestTimeTooSkewed";
  const canonical = [
    request.method,
    url.pathname,
    canonicalQuery(url),
    ...signed.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, " ")}`),
    "",
    names,
    headers["x-amz-content-sha256"],
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const key = [region, "s3", "aws4_request"].reduce(hmac, hmac(`AWS4${known.secretKey}`, day));
  const expected = hmac(key, ["AWS4-HMAC-SHA256", moment, scope, hex(canonical)].join("\n")).toString("hex");
  return signature === expected ? undefined : "SignatureDoesNotMatch";
}

/** Parts of the protocol that the evidence store does not use: refused, so that nobody comes to rely on them unseen. */
function isUnknown(request: IncomingMessage, url: URL): boolean {
  const parameters = new Set(["list-type", "prefix", "continuation-token", "x-id"]);
  const { headers } = request;
  return (
    [...url.searchParams.keys()].some((name) => !parameters.has(name)) ||
    !["GET", "HEAD", "PUT", "DELETE"].includes(request.method ?? "") ||
    headers["x-amz-copy-source"] !== undefined ||
    headers["if-match"] !== undefined ||
    headers.range !== undefined ||
    ![undefined, "*"].includes(headers["if-none-match"])
  );
}

async function putObject(
  request: IncomingMessage,
  response: ServerResponse,
  store: (bytes: Buffer) => boolean,
): Promise<void> {
  const bytes = await buffer(request);
  const digest = createHash("sha256").update(bytes).digest();
  if (Number(request.headers["content-length"]) !== bytes.length)
    return fail(response, 411, "MissingContentLength");
  if (request.headers["x-amz-content-sha256"] !== digest.toString("hex"))
    return fail(response, 400, "XAmzContentSHA256Mismatch");
  if (request.headers["x-amz-checksum-sha256"] !== digest.toString("base64"))
    return fail(response, 400, "BadDigest");
  if (!store(bytes)) return fail(response, 412, "PreconditionFailed");
  response.writeHead(200, { etag: `"${createHash("md5").update(bytes).digest("hex")}"` }).end();
}

function listObjects(url: URL, response: ServerResponse, objects: Map<string, StoredObject>): void {
  const prefix = url.searchParams.get("prefix") ?? "";
  const after = url.searchParams.get("continuation-token") ?? "";
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const page = keys.slice(0, pageSize);
  const more = keys.length > page.length;
  const contents = page.map((key) => {
    const { bytes, modified } = objects.get(key)!;
    return `<Contents><Key>${key}</Key><LastModified>${modified.toISOString()}</LastModified><Size>${bytes.length}</Size></Contents>`;
  });
  const next = more ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : "";
  response.writeHead(200, { "content-type": "application/xml" });
  response.end(
    `<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><KeyCount>${page.length}</KeyCount><IsTruncated>${more}</IsTruncated>${contents.join("")}${next}</ListBucketResult>`,
  );
}

// A small server that speaks as much of the S3 protocol as the evidence store needs, with one bucket, in a process of its
// own. It listens on loopback, says where, and lives as long as the process that started it.
const [given = "", bucket = ""] = process.argv.slice(2);
const credentials = JSON.parse(given) as S3Credentials;
const objects = new Map<string, StoredObject>();
const requests: string[] = [];
const failures = new Map<string, number>();

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "/", "http://s3");
  const method = request.method ?? "";
  requests.push(`${method} ${url.pathname}`);
  const failing = failures.get(method) ?? 0;
  if (failing > 0) {
    failures.set(method, failing - 1);
    request.resume();
    return fail(response, 503, "SlowDown");
  }
  const fault = signatureFault(request, url, credentials);
  if (fault !== undefined) {
    request.resume();
    return fail(response, 403, fault);
  }
  if (isUnknown(request, url)) return fail(response, 501, "NotImplemented");
  const [, name, ...rest] = url.pathname.split("/");
  const key = decodeURIComponent(rest.join("/"));
  if (name !== bucket) return fail(response, 404, "NoSuchBucket");
  if (method === "GET" && key === "") return listObjects(url, response, objects);
  if (method === "PUT")
    return putObject(request, response, (bytes) => {
      if (request.headers["if-none-match"] === "*" && objects.has(key)) return false;
      objects.set(key, { bytes, modified: new Date() });
      return true;
    });
  if (method === "DELETE") {
    objects.delete(key);
    return void response.writeHead(204).end();
  }
  const found = objects.get(key);
  if (found === undefined) return fail(response, 404, "NoSuchKey");
  response.writeHead(200, {
    "content-length": found.bytes.length,
    "last-modified": found.modified.toUTCString(),
  });
  response.end(method === "HEAD" ? undefined : found.bytes);
}

const control: S3Control = {
  keys: () => [...objects.keys()].sort(),
  read: (key) => objects.get(key)?.bytes,
  write: (key, bytes) => void objects.set(key, { bytes, modified: new Date() }),
  age: (seconds) => {
    for (const object of objects.values())
      object.modified = new Date(object.modified.getTime() - seconds * 1000);
  },
  clear: () => {
    objects.clear();
    failures.clear();
    requests.length = 0;
  },
  requests: () => requests,
  failNext: (method, times) => void failures.set(method, times),
};

process.on("message", ({ id, name, given: values }: S3Question) => {
  const result = (control[name] as (...values: unknown[]) => unknown)(...values);
  process.send!({ id, result } satisfies S3Answer);
});
process.on("disconnect", () => process.exit());

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
});
server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port));
