import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

import { afterEach, describe, expect, it } from "vitest";

import { Bucket } from "./bucket.ts";
import type { S3Access } from "./client.ts";
import { openUpload } from "./upload.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** Starts a service that answers as it likes, and opens a bucket of it. */
async function bucketOf(answer: RequestListener, change: Partial<S3Access> = {}): Promise<Bucket> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  });
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const access = { endpoint, region: "here", accessKey: "known", secretKey: "a secret", attempts: 1 };
  return new Bucket({ ...access, ...change }, { bucket: "backups", prefix: "" });
}

const piece = Buffer.alloc(64 * 1024);

describe("a service that does not do what it is asked", () => {
  it("and answers with more than a part of an object is not read to its end", async () => {
    let sent = 0;
    const bucket = await bucketOf((_request, response) => {
      const more = (): void => {
        if (response.destroyed || sent >= 256 * 1024 * 1024) return void response.end();
        sent += piece.length;
        response.write(piece, more);
      };
      more();
    });
    await expect(bucket.read("large", 0, 1_000)).rejects.toThrow(
      "s3://backups/large: 1000 bytes were asked for, and more came",
    );
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  it("and sends a byte now and then is given up", async () => {
    const bucket = await bucketOf(
      (_request, response) => {
        response.writeHead(206, { "content-length": 1_000 });
        const drip = setInterval(() => response.write("x"), 20);
        response.once("close", () => clearInterval(drip));
      },
      { readWithinMs: 200, attempts: 6 },
    );
    await expect(bucket.read("slow", 0, 1_000)).rejects.toThrow("s3://backups/slow: ");
  });

  const page = (content: string): RequestListener => {
    let asked = 0;
    return (_request, response) => {
      asked += 1;
      // What is asked without end ends the test otherwise.
      if (asked > 20) return void response.writeHead(400).end();
      response.writeHead(200, { "content-type": "application/xml" });
      response.end(`<?xml version="1.0"?><Answer><IsTruncated>true</IsTruncated>${content}</Answer>`);
    };
  };

  it.each([
    ["objects", (bucket: Bucket) => bucket.list(), ""],
    ["objects", (bucket: Bucket) => bucket.list(), "<NextContinuationToken>a</NextContinuationToken>"],
    ["uploads", (bucket: Bucket) => bucket.listUploads(), ""],
    ["uploads", (bucket: Bucket) => bucket.listUploads(), "<NextKeyMarker>a</NextKeyMarker>"],
  ])("and gives a list of %s no end is not believed", async (_, list, content) => {
    await expect(list(await bucketOf(page(content)))).rejects.toThrow("does not say how its list goes on");
  });
});

it("an upload that is given up sends no more while it is aborted", async () => {
  const asked: string[] = [];
  let arrived = (): void => {};
  const isUnderWay = new Promise<void>((resolve) => (arrived = resolve));
  const bucket = await bucketOf((request, response) => {
    asked.push(`${request.method} ${new URL(request.url ?? "", "http://s3").searchParams.get("partNumber")}`);
    request.resume();
    if (request.method === "POST") return void response.end("<R><UploadId>1</UploadId></R>");
    if (request.method === "PUT") {
      arrived();
      return void setTimeout(() => response.writeHead(200, { etag: '"1"' }).end(), 100);
    }
    response.writeHead(204).end();
  });
  const upload = await openUpload(bucket, "large", 0);
  const writing = upload.write(Buffer.alloc(40 * 1024 * 1024));
  writing.catch(() => {});
  await isUnderWay;
  await upload.abandon();
  await expect(writing).rejects.toThrow("given up");
  expect(asked).toEqual(["POST null", "PUT 1", "DELETE null"]);
});
