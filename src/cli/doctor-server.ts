import type { Config } from "../config.ts";
import { connect, type Database } from "../db/connect.ts";
import { judgeReached } from "../domain/doctor.ts";
import {
  judgeAuditLag,
  judgeAutovacuum,
  judgeBreakGlass,
  judgeCollation,
  judgeDurability,
  judgeOpenTransactions,
  judgePrepared,
  judgeSlots,
  judgeStandby,
  judgeTransactionIds,
} from "../domain/doctor-upkeep.ts";
import { auditLagOf } from "../modules/kernel/audit/push-service.ts";
import {
  countEmergencyLinks,
  countForgottenPrepared,
  hasOtherCollation,
  listIdleSlots,
  listOpenTransactions,
  readAutovacuum,
  readDurability,
  readLogPosition,
  readTransactionAge,
} from "../modules/maintenance/health/doctor-server-store.ts";
import type { DoctorCheck } from "./doctor-checks.ts";

/** Asks the standby that reads go to how far it is; of two positions the primary's is read first, so that none is behind by what came after. */
async function lookAtStandby(db: Database, { databaseReadUrl: connection }: Config) {
  if (connection === undefined) return undefined;
  const standby = connect({ connection, max: 1 });
  try {
    const primary = await readLogPosition(db);
    const { isStandby, position } = await readLogPosition(standby);
    return judgeStandby(isStandby, primary.position - position);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return judgeReached(
      "the read replica",
      reason,
      "Start it, or check DATABASE_READ_URL; all reads go to the primary meanwhile",
    );
  } finally {
    await standby.close();
  }
}

const clock = { now: () => Date.now() / 1000 };

async function lookAtAuditTargets(db: Database, { auditTargets }: Config) {
  if (auditTargets.length === 0) return undefined;
  const lags = [];
  for (const target of auditTargets)
    lags.push({ target: target.name, seconds: await auditLagOf({ db, clock }, target) });
  return judgeAuditLag(lags);
}

/** Lists what is looked at of PostgreSQL itself, and of what leaves it. */
export function serverChecks(db: Database, config: Config): DoctorCheck[] {
  const ofDatabase = (name: string, look: DoctorCheck["look"]): DoctorCheck => ({
    group: "database",
    name,
    look,
  });
  return [
    ofDatabase("durability", async () => judgeDurability(await readDurability(db))),
    ofDatabase("autovacuum", async () => {
      const { isOn, excepted } = await readAutovacuum(db);
      return judgeAutovacuum(isOn, excepted);
    }),
    ofDatabase("transaction_ids", async () => judgeTransactionIds(await readTransactionAge(db))),
    ofDatabase("transactions", async () => judgeOpenTransactions(await listOpenTransactions(db))),
    ofDatabase("prepared", async () => judgePrepared(await countForgottenPrepared(db))),
    ofDatabase("slots", async () => judgeSlots(await listIdleSlots(db))),
    ofDatabase("collation", async () => judgeCollation(await hasOtherCollation(db))),
    ofDatabase("replica", () => lookAtStandby(db, config)),
    {
      group: "keys",
      name: "emergency_links",
      look: async () => judgeBreakGlass(await countEmergencyLinks(db, clock.now())),
    },
    { group: "services", name: "audit_targets", look: () => lookAtAuditTargets(db, config) },
  ];
}
