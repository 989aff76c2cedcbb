import { setTimeout as sleep } from "node:timers/promises";

import { qualityEndpoints } from "../../src/contract/quality.ts";
import { hmacSha256Hex } from "../../src/lib/hash.ts";
import { eachInParallel } from "../../src/lib/parallel.ts";
import type { Run } from "../model/builds.ts";
import { makeAnalyses } from "../model/quality.ts";
import { concurrency, type Demo } from "../plan.ts";

/** What the printed commands need to send a delivery, and to replay one. */
export interface QualityHook {
  url: string;
  secret: string;
  deliveryId: string;
}

/** Name of the header that carries a delivery's signature. */
export const signatureHeader = "X-Quality-Webhook-HMAC-SHA256";

/** Milliseconds to wait until deliveries are processed: in all, and between two looks. */
const patience = { total: 60_000, step: 50 };

/** Waits until all deliveries have been processed, so that they count for what is reported next. */
async function untilProcessed({ api, org }: Demo): Promise<void> {
  for (let waited = 0; waited < patience.total; waited += patience.step) {
    const { total_count } = await api.call(qualityEndpoints.list_quality_deliveries, {
      params: { org },
      query: { status: "accepted", per_page: "1" },
    });
    if (total_count === 0) return;
    await sleep(patience.step);
  }
}

/** Switches the code-quality webhook on and calls it with signed deliveries, as a code-quality server does. */
export function deliverAnalyses(demo: Demo, runs: readonly Run[]): Promise<QualityHook> {
  const { api, org } = demo;
  const analyses = makeAnalyses(
    demo.seed,
    runs.filter((run) => run.builds.length > 0),
  );
  return demo.progress.step("Signed quality deliveries", analyses.length, async (advance) => {
    const integration = await api.call(qualityEndpoints.put_quality_integration, {
      params: { org },
      body: { flow_name_base: "key" },
    });
    if (!("secret" in integration) || integration.webhook_url === null)
      throw new Error("A new integration came without its secret");
    const { secret, webhook_url: url } = integration;
    const hook_uid = url.slice(url.lastIndexOf("/") + 1);
    await eachInParallel(analyses, concurrency, async (analysis) => {
      const body = Buffer.from(JSON.stringify(analysis));
      await api.as(undefined).call(qualityEndpoints.quality_webhook, {
        params: { hook_uid },
        body,
        headers: { [signatureHeader]: hmacSha256Hex(secret, body) },
      });
      advance();
    });
    await untilProcessed(demo);
    const { deliveries } = await api.call(qualityEndpoints.list_quality_deliveries, {
      params: { org },
      query: { per_page: "100" },
    });
    const example = deliveries.find(
      (delivery) => delivery.status !== "duplicate" && delivery.status !== "ignored",
    );
    return { url, secret, deliveryId: example?.id ?? "" };
  });
}
