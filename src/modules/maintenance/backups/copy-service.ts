import { randomUUID } from "node:crypto";
import { PassThrough } from "node:stream";

import type { Database } from "../../../db/connect.ts";
import type { EvidenceStore } from "../../../evidence/store.ts";
import { streamSink } from "./file-sink.ts";
import { restoreBackup, type Restored, type SchemaSteps } from "./restore-service.ts";
import { writeBackup } from "./write-service.ts";

/** What is copied where, and how. */
export interface CopyRequest {
  from: Database;
  to: Database;
  /** Where the evidence is that both name. It is left as it is. */
  evidence: EvidenceStore;
  /** Of the database that is filled. */
  schema: SchemaSteps;
  /** Version of the program. */
  program: string;
  report(step: string): void;
}

/** So much is on its way between the two. */
const bufferBytes = 8 * 1024 * 1024;

/**
 * Copies a whole database into an empty one, of any major version of PostgreSQL, through a backup that is restored while it is made, with
 * all checks of a restore. Nobody may write meanwhile.
 * @throws what either of the two fails with.
 */
export async function copyDatabase({ from, to, evidence, ...request }: CopyRequest): Promise<Restored> {
  const pipe = new PassThrough({ highWaterMark: bufferBytes });
  // Shows where it is read.
  pipe.on("error", () => {});
  const write = async (): Promise<void> => {
    const sink = streamSink(pipe);
    try {
      const options = { id: randomUUID(), program: request.program, evidence: "none" } as const;
      await writeBackup({ db: from, evidence }, sink, options);
      pipe.end();
    } catch (error) {
      pipe.destroy(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
  };
  const read = async (): Promise<Restored> => {
    try {
      return await restoreBackup(
        { db: to, evidence },
        {
          open: () => pipe,
          openOther: async () => undefined,
          schema: request.schema,
          replace: false,
          quarantine: false,
          quick: true,
          report: request.report,
        },
      );
    } catch (error) {
      pipe.destroy(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
  };
  const [written, restored] = await Promise.allSettled([write(), read()]);
  // What the reader found is the reason why the writer could not go on, unless the writer failed by itself.
  if (restored.status === "rejected") throw restored.reason;
  if (written.status === "rejected") throw written.reason;
  return restored.value;
}
