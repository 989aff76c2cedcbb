// Tests of what reads and writes tables that can be divided by months, once more with such tables.
import { usePartitionedTables } from "../support/app.ts";

usePartitionedTables();

await import("./attestations.test.ts");
await import("./attestation-reads.test.ts");
await import("./attestation-search.test.ts");
await import("./audit-log.test.ts");
await import("./change-feed.test.ts");
await import("./explain.test.ts");
await import("./exact-evidence.test.ts");
await import("./repair-times.test.ts");
await import("./report-concurrency.test.ts");
await import("./trail-read.test.ts");
await import("./trails.test.ts");
await import("./stored-compliance.test.ts");
