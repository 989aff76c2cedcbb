import { describe, expect, it } from "vitest";

import { mistakesOf } from "../test/support/config.ts";
import { readConfig } from "./config.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };

const tracesOf = (environment: Record<string, string>) => readConfig(environment).traces;

describe("traces", () => {
  it("are off without an endpoint, whatever else is said", () => {
    expect(tracesOf({})).toBeUndefined();
    expect(
      tracesOf({ OTEL_TRACES_SAMPLER: "always_on", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }),
    ).toBeUndefined();
    expect(tracesOf({ OTEL_EXPORTER_OTLP_ENDPOINT: "" })).toBeUndefined();
  });

  it.each([{ OTEL_SDK_DISABLED: "true" }, { OTEL_SDK_DISABLED: "TRUE" }, { OTEL_TRACES_EXPORTER: "none" }])(
    "are off with %j",
    (off) => {
      expect(tracesOf({ ...endpoint, ...off })).toBeUndefined();
    },
  );

  it("go to the standard path below an endpoint, in batches, one in twenty", () => {
    expect(tracesOf(endpoint)).toEqual({
      url: "http://collector:4318/v1/traces",
      headers: {},
      form: "protobuf",
      compresses: false,
      timeoutMs: 10_000,
      resource: { "service.name": "waybill" },
      sampling: { byParent: true, ratio: 0.05 },
      batch: { delayMs: 5_000, timeoutMs: 30_000, mostWaiting: 2048, mostAtOnce: 512 },
    });
  });

  it.each([
    ["https://otel.example.org/prefix/", "https://otel.example.org/prefix/v1/traces"],
    ["http://collector:4318/", "http://collector:4318/v1/traces"],
    ["http://collector:4318/a?key=b", "http://collector:4318/a/v1/traces?key=b"],
  ])("below %s go to %s", (base, url) => {
    expect(tracesOf({ OTEL_EXPORTER_OTLP_ENDPOINT: base })?.url).toBe(url);
  });

  it("take what is said for traces before what is said for everything", () => {
    expect(
      tracesOf({
        ...endpoint,
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://tempo/api/traces",
        OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20one,X-Scope=a=b",
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: "Authorization=two",
        OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json",
        OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
        OTEL_EXPORTER_OTLP_TIMEOUT: "1",
        OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: "2000",
        OTEL_SERVICE_NAME: "waybill-eu",
        OTEL_RESOURCE_ATTRIBUTES: "service.name=other, deployment.environment.name=a%2Cb",
        OTEL_BSP_MAX_QUEUE_SIZE: "100",
      }),
    ).toMatchObject({
      url: "https://tempo/api/traces",
      headers: { authorization: "two", "x-scope": "a=b" },
      form: "json",
      compresses: true,
      timeoutMs: 2000,
      resource: { "service.name": "waybill-eu", "deployment.environment.name": "a,b" },
      batch: { mostWaiting: 100, mostAtOnce: 100 },
    });
  });

  it.each([
    ["always_on", undefined, { byParent: false, ratio: 1 }],
    ["always_off", undefined, { byParent: false, ratio: 0 }],
    ["traceidratio", "0.5", { byParent: false, ratio: 0.5 }],
    ["parentbased_always_on", undefined, { byParent: true, ratio: 1 }],
    ["parentbased_always_off", undefined, { byParent: true, ratio: 0 }],
    ["parentbased_traceidratio", "1", { byParent: true, ratio: 1 }],
    ["traceidratio", undefined, { byParent: false, ratio: 0.05 }],
  ])("are sampled by %s with %s", (sampler, given, sampling) => {
    const ratio = given === undefined ? {} : { OTEL_TRACES_SAMPLER_ARG: given };
    expect(tracesOf({ ...endpoint, OTEL_TRACES_SAMPLER: sampler, ...ratio })?.sampling).toEqual(sampling);
  });

  it("are refused with a sentence for each mistake, which repeats no header", () => {
    const mistakes = mistakesOf({
      OTEL_EXPORTER_OTLP_ENDPOINT: "ftp://collector",
      OTEL_EXPORTER_OTLP_HEADERS: "s3cret",
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "grpc",
      OTEL_EXPORTER_OTLP_COMPRESSION: "zstd",
      OTEL_EXPORTER_OTLP_TIMEOUT: "0",
      OTEL_RESOURCE_ATTRIBUTES: "a=%zz",
      OTEL_TRACES_SAMPLER: "xray",
      OTEL_BSP_MAX_QUEUE_SIZE: "many",
      OTEL_TRACES_EXPORTER: "zipkin",
    });
    expect(mistakes.map((mistake) => mistake.split(" ")[0])).toEqual([
      "OTEL_EXPORTER_OTLP_ENDPOINT",
      "OTEL_EXPORTER_OTLP_HEADERS",
      "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
      "OTEL_EXPORTER_OTLP_COMPRESSION",
      "OTEL_EXPORTER_OTLP_TIMEOUT",
      "OTEL_RESOURCE_ATTRIBUTES",
      "OTEL_TRACES_SAMPLER",
      "OTEL_BSP_MAX_QUEUE_SIZE",
      "OTEL_TRACES_EXPORTER",
    ]);
    expect(mistakes.join()).not.toContain("s3cret");
    expect(mistakesOf({ ...endpoint, OTEL_TRACES_SAMPLER_ARG: "2" })).toEqual([
      "OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1",
    ]);
    expect(mistakesOf({ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: "a=b%0d%0ac" })).toHaveLength(1);
  });
});
