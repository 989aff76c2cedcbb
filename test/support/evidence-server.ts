import { pino } from "pino";
import { z } from "zod";

import { Ok, json } from "../../src/contract/common.ts";
import { endpoint, type Endpoints } from "../../src/contract/endpoint.ts";
import { invalid } from "../../src/domain/errors.ts";
import type { AnyHandler } from "../../src/http/mount.ts";
import { createServer } from "../../src/http/server.ts";
import type { Handlers } from "../../src/modules/kernel/call.ts";
import type { Deps } from "../../src/modules/kernel/deps.ts";
import { createMetrics } from "../../src/modules/kernel/metrics.ts";

const Receipt = z.object({
  filename: z.string(),
  content_type: z.string(),
  sha256: z.string(),
  size: z.number(),
  digest: z.string(),
});
export type Receipt = z.output<typeof Receipt>;

const endpoints = {
  upload: endpoint({
    method: "POST",
    path: "/upload",
    tag: "Test",
    summary: "Take a file",
    access: { kind: "public" },
    body: {
      kind: "multipart",
      field: "data_json",
      schema: z.strictObject({ outcome: z.enum(["keep", "ignore", "fail"]) }),
      files: {
        attachment_file: { kind: "evidence" },
        small_file: { maxBytes: 1000, tooLarge: "The small file is too large" },
      },
    },
    responses: { 200: json("Nothing kept", Ok), 201: json("Kept", Receipt) },
  }),
} satisfies Endpoints;

const handlers: Handlers<typeof endpoints> = {
  upload: async (_deps, { body, files, actor }) => {
    const file = files.attachment_file;
    if (body.outcome === "fail") throw invalid("The handler refuses");
    if (body.outcome === "ignore" || file === undefined) return { status: 200, body: "OK" };
    await file.keep();
    const { filename, content_type, sha256, size } = file;
    const digest = actor.request_digest!.toString("hex");
    return { status: 201, body: { filename, content_type, sha256, size, digest } };
  },
};

/** A server with one endpoint that takes evidence, listening on loopback. */
export async function startUploadServer(deps: Deps): Promise<{ port: number; stop(): Promise<void> }> {
  const server = await createServer(
    { ...deps, metrics: createMetrics() },
    {
      log: pino({ level: "silent" }),
      mounted: {
        endpoints,
        handlers: handlers as unknown as Record<string, AnyHandler>,
        csv: {},
        gates: {},
        keyUse: { used: () => {}, flush: async () => {}, stop: async () => {} },
      },
      health: { problem: async () => undefined },
      web: undefined,
      version: "0.0.0",
      servers: () => 1,
    },
  );
  const port = Number(new URL(await server.listen({ port: 0, host: "127.0.0.1" })).port);
  return { port, stop: () => server.close() };
}
