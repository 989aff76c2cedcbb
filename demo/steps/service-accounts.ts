import { serviceAccountEndpoints } from "../../src/contract/service-accounts.ts";
import { serviceAccounts } from "../data/service-accounts.ts";
import type { Demo } from "../plan.ts";

/** Keys of service accounts that later steps and the printed commands use. */
export interface Robots {
  /** Key that pipelines use. */
  pipelineKey: string;
  /** Key that reporters of environments use. */
  reporterKey: string;
  /** Key of the printed commands, which may do everything in this organization and nothing elsewhere. */
  explorer: { account: string; keyId: string; key: string };
}

const year = 365 * 24 * 3600;

/** Creates service accounts with keys of all ages: current, limited, rotated, revoked. */
export async function createServiceAccounts(demo: Demo): Promise<Robots> {
  const { api, org } = demo;
  const newKey = (name: string, description: string, expires_at?: number) =>
    api.call(serviceAccountEndpoints.create_service_account_api_key, {
      params: { org, name },
      body: { description, ...(expires_at === undefined ? {} : { expires_at }) },
    });
  return demo.progress.step("Service accounts and keys", serviceAccounts.length, async (advance) => {
    for (const account of serviceAccounts) {
      await api.call(serviceAccountEndpoints.create_service_account, { params: { org }, body: account });
      advance();
    }
    const pipeline = await newKey("pipeline", "all pipelines");
    const explorer = await newKey("explorer", "printed by the demo", Math.floor(demo.now) + year);
    const old = await newKey("cluster-reporter", "clusters");
    const dashboard = await newKey("dashboard", "the old wall");
    await newKey("dashboard", "the new wall", Math.floor(demo.now) + year);
    const reporter = await api.call(serviceAccountEndpoints.rotate_service_account_api_key, {
      params: { org, name: "cluster-reporter", key_id: old.id },
      body: { grace_period_hours: 72 },
    });
    await api.call(serviceAccountEndpoints.delete_service_account_api_key, {
      params: { org, name: "dashboard", key_id: dashboard.id },
    });
    return {
      pipelineKey: pipeline.key,
      reporterKey: reporter.key,
      explorer: { account: "explorer", keyId: explorer.id, key: explorer.key },
    };
  });
}
