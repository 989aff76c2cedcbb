import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

interface StoredObject {
  bytes: Buffer;
  modified: Date;
}

/** A small server that speaks as much of the S3 protocol as the evidence store needs, with one bucket. */
export interface S3Server {
  endpoint: string;
  bucket: string;
  /** By key; tests may change them. */
  objects: Map<string, StoredObject>;
  /** Method and path of each request. */
  requests: string[];
  /** Answers so many requests of the method with 503 from now on. */
  failNext(method: string, times: number): void;
  stop(): Promise<void>;
}

const pageSize = 3;

function fail(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { "content-type": "application/xml" });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}

/** What the service refuses before it looks at anything else: requests without a complete signature (version 4). */
function isSigned(request: IncomingMessage, accessKey: string): boolean {
  const scheme = new RegExp(
    `^AWS4-HMAC-SHA256 Credential=${accessKey}/\\d{8}/[\\w-]+/s3/aws4_request, ?SignedHeaders=([\\w;-]+), ?Signature=[0-9a-f]{64}$`,
  );
  const signed = scheme.exec(request.headers.authorization ?? "")?.[1]?.split(";") ?? [];
  return (
    ["host", "x-amz-content-sha256", "x-amz-date"].every((name) => signed.includes(name)) &&
    request.headers["x-amz-date"] !== undefined
  );
}

async function putObject(
  request: IncomingMessage,
  response: ServerResponse,
  store: (bytes: Buffer) => void,
): Promise<void> {
  const bytes = await buffer(request);
  const digest = createHash("sha256").update(bytes).digest();
  if (Number(request.headers["content-length"]) !== bytes.length)
    return fail(response, 411, "MissingContentLength");
  if (request.headers["x-amz-content-sha256"] !== digest.toString("hex"))
    return fail(response, 400, "XAmzContentSHA256Mismatch");
  if (request.headers["x-amz-checksum-sha256"] !== digest.toString("base64"))
    return fail(response, 400, "BadDigest");
  store(bytes);
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

/** Starts the server on loopback. `accessKey` is the only one it knows. */
export async function startS3Server(accessKey: string): Promise<S3Server> {
  const bucket = "evidence";
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
    if (!isSigned(request, accessKey)) return fail(response, 403, "AccessDenied");
    const [, name, ...rest] = url.pathname.split("/");
    const key = decodeURIComponent(rest.join("/"));
    if (name !== bucket) return fail(response, 404, "NoSuchBucket");
    if (method === "GET" && key === "") return listObjects(url, response, objects);
    if (method === "PUT")
      return putObject(request, response, (bytes) => objects.set(key, { bytes, modified: new Date() }));
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

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bucket,
    objects,
    requests,
    failNext: (method, times) => void failures.set(method, times),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
