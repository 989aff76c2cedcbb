import { createHash, createHmac, randomBytes } from "node:crypto";
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
  /** Makes all objects and uploads older. */
  age(seconds: number): void;
  /** Forgets objects, requests and failures to come. */
  clear(): void;
  /** Method and path of each request since then. */
  requests(): string[];
  /** Answers so many requests of the method with 503 from now on. */
  failNext(method: string, times: number): void;
  /** Cuts the connections of so many requests of the method from now on, after half of what is sent or answered. */
  cutNext(method: string, times: number): void;
  /** Does what so many requests of the method ask from now on, and cuts their connections instead of answering. */
  loseNext(method: string, times: number): void;
  /** Lets so many parts of uploads through, and answers all later ones with 503; undefined: lets all through. */
  failPartsAfter(count: number | undefined): void;
  /** Keys of uploads that were begun and neither completed nor aborted. */
  uploads(): string[];
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

interface StoredUpload {
  key: string;
  begun: Date;
  parts: Map<number, Buffer>;
}

/** Parts of the protocol that the program does not use: refused, so that nobody comes to rely on them unseen. */
function isUnknown(request: IncomingMessage, url: URL): boolean {
  const parameters = new Set([
    "list-type",
    "prefix",
    "delimiter",
    "continuation-token",
    "start-after",
    "x-id",
    "uploads",
    "uploadId",
    "partNumber",
    "key-marker",
    "upload-id-marker",
  ]);
  const { headers } = request;
  return (
    [...url.searchParams.keys()].some((name) => !parameters.has(name)) ||
    !["GET", "HEAD", "PUT", "POST", "DELETE"].includes(request.method ?? "") ||
    headers["x-amz-copy-source"] !== undefined ||
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
  if (![undefined, digest.toString("base64")].includes(request.headers["x-amz-checksum-sha256"] as string))
    return fail(response, 400, "BadDigest");
  if (!store(bytes)) return fail(response, 412, "PreconditionFailed");
  response.writeHead(200, { etag: `"${createHash("md5").update(bytes).digest("hex")}"` }).end();
}

function listObjects(url: URL, response: ServerResponse, objects: Map<string, StoredObject>): void {
  const prefix = url.searchParams.get("prefix") ?? "";
  const delimiter = url.searchParams.get("delimiter") ?? "";
  const after = url.searchParams.get("continuation-token") ?? url.searchParams.get("start-after") ?? "";
  const folded = [...objects.keys()]
    .filter((key) => key.startsWith(prefix))
    .map((key) => {
      const at = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
      return at === -1 ? key : key.slice(0, at + 1);
    });
  const keys = [...new Set(folded)].filter((key) => key > after).sort();
  const page = keys.slice(0, pageSize);
  const more = keys.length > page.length;
  const contents = page.map((key) => {
    const found = objects.get(key);
    if (found === undefined) return `<CommonPrefixes><Prefix>${key}</Prefix></CommonPrefixes>`;
    const { bytes, modified } = found;
    return `<Contents><Key>${key}</Key><LastModified>${modified.toISOString()}</LastModified><Size>${bytes.length}</Size></Contents>`;
  });
  const next = more ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : "";
  response.writeHead(200, { "content-type": "application/xml" });
  response.end(
    `<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><KeyCount>${page.length}</KeyCount><IsTruncated>${more}</IsTruncated>${contents.join("")}${next}</ListBucketResult>`,
  );
}

// A small server that speaks as much of the S3 protocol as the program needs, with one bucket, in a process of its
// own. It listens on loopback, says where, and lives as long as the process that started it.
const [given = "", bucket = ""] = process.argv.slice(2);
const credentials = JSON.parse(given) as S3Credentials;
const objects = new Map<string, StoredObject>();
const uploads = new Map<string, StoredUpload>();
const requests: string[] = [];
const failures = new Map<string, number>();
const cuts = new Map<string, number>();
const losses = new Map<string, number>();
let partsLeft: number | undefined;

const xml = { "content-type": "application/xml" };

/** Answers what is about uploads in parts. @returns whether it was. */
async function answerUpload(
  request: IncomingMessage,
  response: ServerResponse,
  { url, key }: { url: URL; key: string },
): Promise<boolean> {
  const { searchParams } = url;
  if (request.method === "GET" && searchParams.has("uploads")) {
    const prefix = searchParams.get("prefix") ?? "";
    const found = [...uploads].filter(([, upload]) => upload.key.startsWith(prefix));
    const rows = found.map(
      ([id, upload]) =>
        `<Upload><Key>${upload.key}</Key><UploadId>${id}</UploadId><Initiated>${upload.begun.toISOString()}</Initiated></Upload>`,
    );
    response.writeHead(200, xml);
    response.end(
      `<?xml version="1.0"?><ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${rows.join("")}</ListMultipartUploadsResult>`,
    );
    return true;
  }
  if (request.method === "POST" && searchParams.has("uploads")) {
    const id = randomBytes(8).toString("hex");
    uploads.set(id, { key, begun: new Date(), parts: new Map() });
    response.writeHead(200, xml);
    response.end(
      `<?xml version="1.0"?><InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
    );
    return true;
  }
  const id = searchParams.get("uploadId");
  if (id === null) return false;
  const upload = uploads.get(id);
  if (upload === undefined || upload.key !== key) {
    request.resume();
    fail(response, 404, "NoSuchUpload");
  } else if (request.method === "DELETE") {
    uploads.delete(id);
    response.writeHead(204).end();
  } else if (request.method === "PUT") await takePart(request, response, { url, upload });
  else await completeUpload(request, response, { id, upload });
  return true;
}

async function takePart(
  request: IncomingMessage,
  response: ServerResponse,
  { url, upload }: { url: URL; upload: StoredUpload },
): Promise<void> {
  const bytes = await buffer(request);
  if (partsLeft === 0) return fail(response, 503, "SlowDown");
  if (partsLeft !== undefined) partsLeft -= 1;
  const digest = createHash("sha256").update(bytes).digest("hex");
  if (request.headers["x-amz-content-sha256"] !== digest)
    return fail(response, 400, "XAmzContentSHA256Mismatch");
  upload.parts.set(Number(url.searchParams.get("partNumber")), bytes);
  response.writeHead(200, { etag: `"${digest}"` }).end();
}

const leastPart = 5 * 1024 * 1024;

/** Joins the parts that are named, whose digests have to be right, and all but the last of which have to be large. */
async function completeUpload(
  request: IncomingMessage,
  response: ServerResponse,
  { id, upload }: { id: string; upload: StoredUpload },
): Promise<void> {
  const text = (await buffer(request)).toString();
  const named = [...text.matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = ""]) => ({
    number: Number(/<PartNumber>(\d+)</.exec(part)?.[1]),
    etag: /<ETag>(?:&quot;|")?([0-9a-f]+)/.exec(part)?.[1],
  }));
  const parts = named.map(({ number }) => upload.parts.get(number));
  const isRight = named.every(
    ({ number, etag }, index) =>
      number > (named[index - 1]?.number ?? 0) &&
      etag ===
        createHash("sha256")
          .update(parts[index] ?? "")
          .digest("hex"),
  );
  const bytes = parts.filter((part) => part !== undefined);
  if (!isRight || bytes.length !== named.length || named.length === 0)
    return fail(response, 400, "InvalidPart");
  if (bytes.slice(0, -1).some((part) => part.length < leastPart))
    return fail(response, 400, "EntityTooSmall");
  objects.set(upload.key, { bytes: Buffer.concat(bytes), modified: new Date() });
  uploads.delete(id);
  response.writeHead(200, xml);
  response.end(`<?xml version="1.0"?><CompleteMultipartUploadResult></CompleteMultipartUploadResult>`);
}

/** Counts down what a method is to suffer. @returns whether it is this request's turn. */
function isNext(turns: Map<string, number>, method: string): boolean {
  const left = turns.get(method) ?? 0;
  if (left > 0) turns.set(method, left - 1);
  return left > 0;
}

/** Sends an object, or the part of it that is asked for. @param isCut after half of it. */
function sendObject(
  request: IncomingMessage,
  response: ServerResponse,
  { bytes, modified }: StoredObject,
  isCut: boolean,
): void {
  const etag = `"${createHash("md5").update(bytes).digest("hex")}"`;
  if (![undefined, etag].includes(request.headers["if-match"]))
    return fail(response, 412, "PreconditionFailed");
  const [, from = "0", to = String(bytes.length - 1)] =
    /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
  if (request.headers.range !== undefined && Number(from) >= bytes.length)
    return fail(response, 416, "InvalidRange");
  const part = bytes.subarray(Number(from), Number(to) + 1);
  response.writeHead(request.headers.range === undefined ? 200 : 206, {
    "content-length": part.length,
    "last-modified": modified.toUTCString(),
    etag,
  });
  if (request.method === "HEAD") return void response.end();
  if (!isCut) return void response.end(part);
  response.write(part.subarray(0, part.length / 2), () => response.destroy());
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "/", "http://s3");
  const method = request.method ?? "";
  requests.push(`${method} ${url.pathname}`);
  if (isNext(failures, method)) {
    request.resume();
    return fail(response, 503, "SlowDown");
  }
  if (isNext(losses, method))
    response.end = response.destroy.bind(response, undefined) as typeof response.end;
  const isCut = isNext(cuts, method);
  if (isCut && method !== "GET") return void request.once("data", () => request.destroy());
  const fault = signatureFault(request, url, credentials);
  if (fault !== undefined) {
    request.resume();
    return fail(response, 403, fault);
  }
  if (isUnknown(request, url)) return fail(response, 501, "NotImplemented");
  const [, name, ...rest] = url.pathname.split("/");
  const key = decodeURIComponent(rest.join("/"));
  if (name !== bucket) return fail(response, 404, "NoSuchBucket");
  if (await answerUpload(request, response, { url, key })) return;
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
  sendObject(request, response, found, isCut);
}

const control: S3Control = {
  keys: () => [...objects.keys()].sort(),
  read: (key) => objects.get(key)?.bytes,
  write: (key, bytes) => void objects.set(key, { bytes, modified: new Date() }),
  age: (seconds) => {
    for (const object of objects.values())
      object.modified = new Date(object.modified.getTime() - seconds * 1000);
    for (const upload of uploads.values()) upload.begun = new Date(upload.begun.getTime() - seconds * 1000);
  },
  clear: () => {
    objects.clear();
    uploads.clear();
    failures.clear();
    cuts.clear();
    losses.clear();
    partsLeft = undefined;
    requests.length = 0;
  },
  requests: () => requests,
  failNext: (method, times) => void failures.set(method, times),
  cutNext: (method, times) => void cuts.set(method, times),
  loseNext: (method, times) => void losses.set(method, times),
  failPartsAfter: (count) => (partsLeft = count),
  uploads: () => [...uploads.values()].map(({ key }) => key).sort(),
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
