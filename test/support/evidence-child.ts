import { randomBytes, randomInt } from "node:crypto";
import { Readable } from "node:stream";

import { connect, type ConnectOptions } from "../../src/db/connect.ts";
import { transaction } from "../../src/db/transaction.ts";
import { createFileStore } from "../../src/evidence/files.ts";
import { createIntake } from "../../src/http/evidence-part.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createIdSource } from "../../src/lib/ids.ts";
import { readConfig } from "../../src/config.ts";
import { storeEvidence } from "../../src/modules/process/evidence/service.ts";

// A server in miniature, to be killed: stores evidence without end and prints the digest of each that is committed.
const [connection = "", folder = "", orgId = ""] = process.argv.slice(2);
const db = connect({ connection: JSON.parse(connection) as ConnectOptions["connection"], max: 4 });
const config = readConfig({ WAYBILL_EVIDENCE_DIR: folder });
const deps = { config, db, evidence: createFileStore(folder), ids: createIdSource(), clock: systemClock };

function* pieces(): Generator<Buffer> {
  for (let left = randomInt(1, 12); left > 0; left -= 1) yield randomBytes(65_536);
}

async function upload(): Promise<void> {
  const stream = Readable.from(pieces(), { objectMode: false });
  const file = await createIntake(deps).receive(stream, "evidence.bin");
  await file.keep();
  await transaction(db, (tx) => storeEvidence(deps, tx, orgId, [file]));
  process.stdout.write(`${file.sha256}\n`);
}

async function writer(): Promise<never> {
  for (;;) await upload();
}

await Promise.all(Array.from({ length: 4 }, writer));
