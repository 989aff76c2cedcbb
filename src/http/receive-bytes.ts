import type { FastifyRequest } from "fastify";

import { AppError } from "../domain/errors.ts";
import { joinBytes } from "../lib/join-bytes.ts";
import { readInRounds, readNoMore } from "./read-in-rounds.ts";
import { closeInStages, isUnfinished } from "./unread-body.ts";

function tooLarge(): AppError {
  return new AppError("too_large", "Request body is too large");
}

interface Pieces {
  chunks: Buffer[];
  size: number;
}

/** Collects the body of a request, piece by piece. Who asks for more than one may have of memory or time is refused. */
function collect(request: FastifyRequest, limit: number): Promise<Pieces> {
  const { raw, server } = request;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = (): void => {
      reception.end();
      readNoMore(raw);
      raw.off("data", add).off("end", done).off("error", broken).off("close", broken);
    };
    const refuse = (error: AppError): void => {
      stop();
      // Who sends nothing any more has nothing to lose.
      if (error.kind !== "timeout" && isUnfinished(raw)) closeInStages(raw.socket);
      reject(error);
    };
    const broken = (): void => refuse(new AppError("invalid", "Request body broke off"));
    const add = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) return refuse(tooLarge());
      chunks.push(chunk);
      reception.arrived(chunk.length);
      readInRounds(raw, chunk);
    };
    const done = (): void => {
      stop();
      resolve({ chunks, size });
    };
    const reception = server.intake.begin(request, refuse);
    raw.on("data", add).once("end", done).once("error", broken).once("close", broken);
  });
}

/**
 * Receives a whole body into memory.
 * @throws AppError too_large, timeout for one that does not arrive, unavailable when there is no room for it, invalid for
 * one that is not as long as was announced.
 */
export async function receiveBytes(request: FastifyRequest): Promise<Buffer> {
  const limit = request.routeOptions.bodyLimit;
  const announced = Number(request.headers["content-length"] ?? Number.NaN);
  if (announced > limit) {
    if (isUnfinished(request.raw)) closeInStages(request.raw.socket);
    throw tooLarge();
  }
  const { chunks, size } = await collect(request, limit);
  // Copied, also when it is one: pieces are views of what was read from the connection.
  const bytes = await joinBytes(chunks, size);
  if (!Number.isNaN(announced) && bytes.length !== announced)
    throw new AppError("invalid", "Request body does not have the announced length");
  return bytes;
}
