import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { request } from "node:https";
import { dirname } from "node:path";
import { connect } from "node:tls";

import type { AuditTarget } from "../../../config-audit.ts";
import { auditMediaTypes } from "../../../domain/audit-forms/lines.ts";
import { flush } from "../../../lib/flush.ts";

/** What is sent at once to a target: entries, those of each log in order. */
export interface AuditBatch {
  /** A line each, without its end. */
  lines: readonly string[];
  /** The same as frames of syslog over a stream, where it is sent so. */
  frames: Buffer;
}

/** How targets are reached. */
export interface SendOptions {
  token: string | undefined;
  /** Certificates of authorities, PEM; undefined: the usual ones. */
  ca: string | undefined;
  /** For all of it, in milliseconds. */
  timeoutMs: number;
}

const newline = 0x0a;
const lookBack = 64 * 1024;

/** Cuts off what stands after the last whole line: a line that was being written when somebody was killed comes again. */
async function cutTornLine(file: FileHandle): Promise<void> {
  const { size } = await file.stat();
  let end = size;
  while (end > 0) {
    const from = Math.max(0, end - lookBack);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(end - from), 0, end - from, from);
    const at = buffer.subarray(0, bytesRead).lastIndexOf(newline);
    if (at !== -1) {
      end = from + at + 1;
      break;
    }
    end = from;
  }
  if (end < size) await file.truncate(end);
}

/** Appends lines to a file and brings them to the disk. Opened anew each time, so that it may be moved away. */
async function appendToFile({ path }: AuditTarget, { lines }: AuditBatch): Promise<void> {
  const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    if (!(await file.stat()).isFile()) throw new Error("It is no file");
    await cutTornLine(file);
    const { size } = await file.stat();
    // It may be new, and its name has to be on the disk before anybody counts on what is in it.
    if (size === 0) await flush(dirname(path));
    const bytes = Buffer.from(`${lines.join("\n")}\n`, "utf8");
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await file.write(bytes, done, bytes.length - done, size + done);
      done += bytesWritten;
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Posts lines. A redirect is a failure: the token goes to the address that was set, and to no other. */
async function post(
  target: AuditTarget,
  { lines }: AuditBatch,
  { token, ca, timeoutMs }: SendOptions,
): Promise<void> {
  const body = Buffer.from(`${lines.join("\n")}\n`, "utf8");
  const status = await new Promise<number>((resolve, reject) => {
    const sent = request(
      target.url,
      {
        method: "POST",
        agent: false,
        signal: AbortSignal.timeout(timeoutMs),
        ...(ca === undefined ? {} : { ca }),
        headers: {
          "content-type": auditMediaTypes[target.format],
          "content-length": body.length,
          "user-agent": "waybill",
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
      },
      (answer) => {
        resolve(answer.statusCode ?? 0);
        // Nothing of it is of interest.
        answer.on("error", () => undefined).destroy();
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
  if (status < 200 || status > 299) throw new Error(`It answered ${status}`);
}

/** How long a collector has to turn out to be dying after it was sent something, in milliseconds. */
const settleMs = 200;

/**
 * Sends frames over TLS (RFC 5425). The protocol has no receipt. What comes nearest to one is that the receiver keeps the connection
 * until we end it, and ends it then: it has read to the end.
 */
async function sendSyslog(
  { host, port }: AuditTarget,
  { frames }: AuditBatch,
  { ca, timeoutMs }: SendOptions,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const authorities = ca === undefined ? {} : { ca };
    const socket = connect({ host, port, servername: host, minVersion: "TLSv1.2", ...authorities });
    const late = setTimeout(() => socket.destroy(new Error("It did not take all of it in time")), timeoutMs);
    let settling: NodeJS.Timeout | undefined;
    let hasEnded = false;
    let isRead = false;
    socket.on("error", reject);
    socket.on("end", () => void (isRead = hasEnded));
    socket.on("close", () => {
      clearTimeout(late);
      clearTimeout(settling);
      if (isRead) resolve();
      else reject(new Error("It closed the connection before it had read all of it"));
    });
    // What it says is of no interest, but has to be read for its end to be seen.
    socket.resume();
    socket.once("secureConnect", () =>
      socket.write(frames, () => {
        settling = setTimeout(() => {
          hasEnded = true;
          socket.end();
        }, settleMs);
      }),
    );
  });
}

const ways = { file: appendToFile, https: post, syslog: sendSyslog } as const;

/** Sends entries to a target. @throws Error unless it has taken all of them; it may have taken some then. */
export async function sendLines(target: AuditTarget, batch: AuditBatch, options: SendOptions): Promise<void> {
  await ways[target.kind](target, batch, options);
}
