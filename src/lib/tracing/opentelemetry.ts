import { randomUUID } from "node:crypto";

import { ROOT_CONTEXT } from "@opentelemetry/api";
import { SamplingDecision, TraceIdRatioBasedSampler } from "@opentelemetry/sdk-trace";

import type { Logger } from "../log.ts";
import { OtlpExporter } from "./exporter.ts";
import { randomId } from "./ids.ts";
import {
  RecordedSpan,
  readTraceparent,
  type SpanRecord,
  type SpanReference,
  UnrecordedSpan,
} from "./span.ts";
import { SpansAsJson } from "./span-json.ts";
import { SpansAsProtobuf } from "./span-protobuf.ts";
import { SpanQueue } from "./span-queue.ts";
import type { Sampling, TraceSettings, Tracing } from "./tracing.ts";

/** Decides whether a trace is recorded. Parts of what is recorded are recorded, whoever decided about the whole. */
type Sampler = (parent: SpanReference | undefined, traceId: string) => boolean;

function samplerOf({ byParent, ratio }: Sampling): Sampler {
  const sampler = new TraceIdRatioBasedSampler(ratio);
  const isChosen = (traceId: string): boolean =>
    ratio === 1 ||
    sampler.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED;
  return (parent, traceId) =>
    byParent && parent !== undefined ? (parent.traceFlags & 1) === 1 : isChosen(traceId);
}

/** Begins to make traces and to export them, in batches, in the background. */
export function startTracing(settings: TraceSettings, log: Pick<Logger, "info" | "warn">): Tracing {
  const exporter = new OtlpExporter(settings, log);
  const resource = {
    // Not OpenTelemetry's: spans are made here.
    "telemetry.sdk.name": "waybill",
    "telemetry.sdk.language": "nodejs",
    "service.instance.id": randomUUID(),
    ...settings.resource,
  };
  const forms = { protobuf: SpansAsProtobuf, json: SpansAsJson };
  const batch = new forms[settings.form]({ resource, scope: "waybill" });
  const queue = new SpanQueue(settings.batch, batch, (spans) => exporter.export(spans));
  const isRecorded = samplerOf(settings.sampling);
  const take = (span: SpanRecord): void => queue.add(span);
  return {
    begin: (name, options) => {
      const parent = readTraceparent(options.parent);
      const traceId = parent?.traceId ?? randomId(16);
      if (!isRecorded(parent, traceId)) return new UnrecordedSpan(traceId);
      const epochMs = Date.now() - performance.now();
      return new RecordedSpan({ traceId, epochMs, take }, name, options, parent);
    },
    get dropped() {
      return queue.dropped;
    },
    stop: async (withinMs) => {
      exporter.hurry();
      const limit = setTimeout(() => exporter.giveUp(), withinMs);
      // What could not be exported was counted.
      await queue.close();
      clearTimeout(limit);
    },
  };
}
