import { z } from "zod";

import { mebibyte } from "./lib/units.ts";

/** What callers may take of the server before anything they ask for is done. */
export interface IntakeLimits {
  /** Connections open at once; undefined: as many as the descriptors of the process leave. */
  connections: number | undefined;
  /** Connections open at once from one address, or one IPv6 network of 64 bits; undefined: no limit of its own. */
  connectionsPerAddress: number | undefined;
  /** Requests under way at once on one connection. */
  pipelined: number;
  /** Seconds until the head of a request must be there. */
  headerSeconds: number;
  /** Seconds after which a body of which nothing arrives is cut off. */
  stallSeconds: number;
  /** Bytes a second that a body must bring on average, once it has taken longer than `stallSeconds`; 0: any. */
  bodyRate: number;
  /** Seconds a body may take in all. */
  bodySeconds: number;
  /** Seconds for which the rest of a body is still taken from a connection after its request was answered. */
  unreadSeconds: number;
  /** Bytes in memory of all bodies of callers who are known. */
  bodyBytes: number;
  /** Of these, bytes of one organization's callers, or of one user elsewhere. */
  bodyBytesPerCaller: number;
  /** Bytes in memory of all bodies of callers who are not known, webhooks among them. */
  strangerBodyBytes: number;
  /** Of these, bytes of one webhook, or one address. */
  strangerBodyBytesPerAddress: number;
}

/** A switch: `1` or `true` is on. */
export const flag = z
  .enum(["0", "1", "true", "false"])
  .transform((value) => value === "1" || value === "true");

/** Makes the schema of a whole number within bounds, written as a text. */
export function whole(min: number, max: number) {
  return z
    .string()
    .regex(/^\d{1,16}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));
}

/** No less than the largest body, which could never be sent otherwise. */
const bytesOfCallers = whole(24 * mebibyte, 9_999_999_999).optional();
const bytesOfStrangers = whole(mebibyte, 9_999_999_999).optional();

/** The variables that set the limits. */
export const limitVariables = {
  WAYBILL_MAX_CONNECTIONS: whole(8, 1_000_000).optional(),
  WAYBILL_MAX_CONNECTIONS_PER_ADDRESS: whole(0, 1_000_000).optional(),
  WAYBILL_MAX_PIPELINED: whole(1, 10_000).optional(),
  WAYBILL_HEADER_SECONDS: whole(1, 3_600).optional(),
  WAYBILL_BODY_STALL_SECONDS: whole(1, 3_600).optional(),
  WAYBILL_BODY_MIN_RATE: whole(0, 1_000_000).optional(),
  WAYBILL_BODY_SECONDS: whole(1, 86_400).optional(),
  WAYBILL_UNREAD_SECONDS: whole(1, 3_600).optional(),
  WAYBILL_BODY_BYTES: bytesOfCallers,
  WAYBILL_BODY_BYTES_PER_CALLER: bytesOfCallers,
  WAYBILL_STRANGER_BODY_BYTES: bytesOfStrangers,
  WAYBILL_STRANGER_BODY_BYTES_PER_ADDRESS: bytesOfStrangers,
};

const Limits = z.object(limitVariables);

const standard = {
  connectionsPerAddress: 512,
  pipelined: 64,
  headerSeconds: 15,
  stallSeconds: 10,
  bodyRate: 512,
  bodySeconds: 900,
  unreadSeconds: 5,
  bodyBytes: 192 * mebibyte,
  bodyBytesPerCaller: 64 * mebibyte,
  strangerBodyBytes: 16 * mebibyte,
  strangerBodyBytesPerAddress: 4 * mebibyte,
};

/**
 * Gives the limits that were set, and the standard ones for the others.
 * @param local nobody but this machine can connect: its programs share one address, which gets no limit of its own.
 */
export function intakeLimits(set: z.output<typeof Limits>, local: boolean): IntakeLimits {
  const perAddress = set.WAYBILL_MAX_CONNECTIONS_PER_ADDRESS ?? (local ? 0 : standard.connectionsPerAddress);
  return {
    connections: set.WAYBILL_MAX_CONNECTIONS,
    connectionsPerAddress: perAddress === 0 ? undefined : perAddress,
    pipelined: set.WAYBILL_MAX_PIPELINED ?? standard.pipelined,
    headerSeconds: set.WAYBILL_HEADER_SECONDS ?? standard.headerSeconds,
    stallSeconds: set.WAYBILL_BODY_STALL_SECONDS ?? standard.stallSeconds,
    bodyRate: set.WAYBILL_BODY_MIN_RATE ?? standard.bodyRate,
    bodySeconds: set.WAYBILL_BODY_SECONDS ?? standard.bodySeconds,
    unreadSeconds: set.WAYBILL_UNREAD_SECONDS ?? standard.unreadSeconds,
    bodyBytes: set.WAYBILL_BODY_BYTES ?? standard.bodyBytes,
    bodyBytesPerCaller: set.WAYBILL_BODY_BYTES_PER_CALLER ?? standard.bodyBytesPerCaller,
    strangerBodyBytes: set.WAYBILL_STRANGER_BODY_BYTES ?? standard.strangerBodyBytes,
    strangerBodyBytesPerAddress:
      set.WAYBILL_STRANGER_BODY_BYTES_PER_ADDRESS ?? standard.strangerBodyBytesPerAddress,
  };
}
