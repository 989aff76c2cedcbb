import { lookup as systemLookup } from "node:dns";
import { request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";

import { isPublicAddress } from "../../../domain/network/reach.ts";
import { targetUrlProblem } from "../../../domain/network/target-url.ts";

/** A target that may not be called, in a sentence that does not name its address. */
export class TargetRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TargetRefused";
  }
}

export interface PostOptions {
  /** Lets it go to the operator's own network. */
  allowPrivate: boolean;
  /** For all of it: looking up, connecting, sending, and the answer. */
  timeoutMs: number;
  /** How names are looked up; the system's way when left out. */
  lookup?: typeof systemLookup;
}

/** As much of an answer's body as is read before the connection is closed. */
const maxAnswerBytes = 64 * 1024;

/**
 * Looks names up for one connection and gives it public addresses only. The connection goes to what was checked: there
 * is no second look-up that could answer otherwise.
 */
function guardedLookup({ allowPrivate, lookup = systemLookup }: PostOptions): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, "");
      const allowed = allowPrivate ? addresses : addresses.filter(({ address }) => isPublicAddress(address));
      const [first] = allowed;
      if (first === undefined) return callback(new TargetRefused("Host leads to a private network"), "");
      if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

/**
 * Posts JSON to an address a user gave, on a connection of its own. Redirects are not followed; of the answer only the
 * status is of interest.
 * @returns the HTTP status.
 * @throws TargetRefused for an address that may not be called; whatever the network says otherwise.
 */
export async function postJson(
  address: string,
  body: string,
  headers: Record<string, string>,
  options: PostOptions,
): Promise<number> {
  // Names that stand for addresses are checked here, the others when they are looked up.
  const problem = targetUrlProblem(address, options.allowPrivate);
  if (problem !== undefined) throw new TargetRefused(problem);
  const url = new URL(address);
  const payload = Buffer.from(body, "utf8");
  const settings: RequestOptions = {
    method: "POST",
    agent: false,
    lookup: guardedLookup(options),
    signal: AbortSignal.timeout(options.timeoutMs),
    headers: {
      "content-type": "application/json",
      "content-length": payload.length,
      "user-agent": "waybill",
      ...headers,
    },
  };
  return new Promise((resolve, reject) => {
    const start = url.protocol === "https:" ? httpsRequest : httpRequest;
    let status: number | undefined;
    const request = start(url, settings, (response) => {
      status = response.statusCode ?? 0;
      let received = 0;
      response.on("data", (chunk: Buffer) => {
        received += chunk.length;
        if (received > maxAnswerBytes) response.destroy();
      });
      response.on("error", () => {});
    });
    request.on("error", (error) => (status === undefined ? reject(error) : resolve(status)));
    // However the rest of an answer ends, its status has been said.
    request.on("close", () => (status === undefined ? reject(new Error("No answer")) : resolve(status)));
    request.end(payload);
  });
}
