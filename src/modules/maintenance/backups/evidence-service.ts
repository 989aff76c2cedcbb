import type { Executor } from "../../../db/connect.ts";
import { ContentDamaged, ContentMissing, type EvidenceStore } from "../../../evidence/store.ts";
import { listStored } from "../../process/evidence/verify-service.ts";
import type { ArchiveWriter } from "./archive-writer.ts";
import { type EvidenceLine, evidencePath } from "../../../domain/backup-format.ts";

/** How evidence goes into a backup. */
export interface EvidencePlan {
  /** The backup that is being made. */
  id: string;
  /** Whether bytes are taken at all. */
  takesBytes: boolean;
  /** Finds the earlier backup that has these bytes already, by id. */
  earlier(sha256: string): string | undefined;
}

type Problem = "missing" | "damaged";

/** Gives exactly `size` bytes, whatever the content has, and notes what is wrong with it. */
async function* exactly(
  { evidence }: { evidence: EvidenceStore },
  { sha256, size }: { sha256: string; size: number },
  note: (problem: Problem) => void,
): AsyncGenerator<Buffer> {
  let left = size;
  try {
    for await (const piece of (await evidence.open(sha256)) as AsyncIterable<Buffer>) {
      if (piece.length > left) throw new ContentDamaged(sha256);
      left -= piece.length;
      yield piece;
    }
    if (left > 0) throw new ContentDamaged(sha256);
  } catch (error) {
    if (error instanceof ContentMissing) note("missing");
    else if (error instanceof ContentDamaged) note("damaged");
    else throw error;
  }
  const filling = Buffer.alloc(Math.min(left, 65_536));
  for (; left > 0; left -= filling.length) yield filling.subarray(0, left);
}

/**
 * Writes the evidence that the rows of a snapshot name, and tells of each where its bytes are. What is missing or damaged is told,
 * too, and is no failure.
 */
export async function* writeEvidence(
  deps: { evidence: EvidenceStore; snapshot: Executor },
  archive: ArchiveWriter,
  plan: EvidencePlan,
): AsyncGenerator<EvidenceLine> {
  for await (const { sha256, size } of listStored(deps.snapshot)) {
    const earlier = plan.earlier(sha256);
    if (!plan.takesBytes || earlier !== undefined) {
      yield { kind: "evidence", sha256, size, in: earlier ?? null };
      continue;
    }
    let problem: Problem | undefined;
    const content = exactly(deps, { sha256, size }, (found) => (problem = found));
    await archive.addStream(evidencePath(sha256), size, content);
    yield { kind: "evidence", sha256, size, in: plan.id, ...(problem === undefined ? {} : { problem }) };
  }
}
