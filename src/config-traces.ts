import { z } from "zod";

import type { Sampling, TraceSettings } from "./lib/tracing/tracing.ts";
import { parseUrl } from "./lib/url.ts";

/** Whether and where traces of requests and jobs are exported. */
export interface TracesConfig {
  /** undefined: there are none. */
  traces: TraceSettings | undefined;
}

/** The standard variables of OpenTelemetry that are read. What they say is looked at where traces are switched on: others may be meant by them, too. */
const names = [
  "OTEL_SDK_DISABLED",
  "OTEL_TRACES_EXPORTER",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
  "OTEL_EXPORTER_OTLP_PROTOCOL",
  "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
  "OTEL_EXPORTER_OTLP_COMPRESSION",
  "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION",
  "OTEL_EXPORTER_OTLP_TIMEOUT",
  "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
  "OTEL_SERVICE_NAME",
  "OTEL_RESOURCE_ATTRIBUTES",
  "OTEL_TRACES_SAMPLER",
  "OTEL_TRACES_SAMPLER_ARG",
  "OTEL_BSP_SCHEDULE_DELAY",
  "OTEL_BSP_EXPORT_TIMEOUT",
  "OTEL_BSP_MAX_QUEUE_SIZE",
  "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
] as const;
type Name = (typeof names)[number];
type Set = Partial<Record<Name, string | undefined>>;

/** The variables that say so. */
export const traceVariables = Object.fromEntries(
  names.map((name) => [name, z.string().optional()]),
) as Record<Name, z.ZodOptional<z.ZodString>>;

/** A mistake in one of the variables. */
class Mistake extends Error {}

function isOn(set: Set): boolean {
  if (set.OTEL_SDK_DISABLED?.trim().toLowerCase() === "true" || set.OTEL_TRACES_EXPORTER === "none")
    return false;
  return (
    set.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT !== undefined || set.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined
  );
}

function httpUrl(name: Name, text: string): URL {
  const url = parseUrl(text);
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    throw new Mistake(`${name} must be a URL starting with http:// or https://, without a password`);
  return url;
}

/** Finds the address that spans are posted to: the one for traces as it is, or what the standard says below the one for everything. */
function addressOf(set: Set): string {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own, OTEL_EXPORTER_OTLP_ENDPOINT: base = "" } = set;
  if (own !== undefined) return httpUrl("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", own).href;
  const url = httpUrl("OTEL_EXPORTER_OTLP_ENDPOINT", base);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/v1/traces`;
  return url.href;
}

/** Reads `name=value` with commas between, escaped as in URLs. The text of a mistake does not repeat it: it may be secret. */
function pairsOf(set: Set, name: Name, isName: RegExp): Record<string, string> {
  const mistake = new Mistake(
    `${name} must be name=value, with commas between and values escaped as in URLs (%20)`,
  );
  const pairs = (set[name] ?? "").split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      const key = pair.slice(0, Math.max(at, 0)).trim();
      if (!isName.test(key)) throw mistake;
      try {
        return [key, decodeURIComponent(pair.slice(at + 1).trim())];
      } catch {
        throw mistake;
      }
    }),
  );
}

const headerName = /^[\w!#$%&'*+.^`|~-]+$/;
const printable = /^[\x20-\x7e]*$/;

function headersOf(set: Set): Record<string, string> {
  const read = (name: Name): Record<string, string> => {
    const headers = pairsOf(set, name, headerName);
    if (!Object.values(headers).every((value) => printable.test(value)))
      throw new Mistake(`${name} must have values of printable characters`);
    return Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]));
  };
  return { ...read("OTEL_EXPORTER_OTLP_HEADERS"), ...read("OTEL_EXPORTER_OTLP_TRACES_HEADERS") };
}

/** Reads a word of a few, said for traces or for everything. */
function wordOf<Word extends string>(
  set: Set,
  [own, base]: readonly [Name, Name],
  words: readonly Word[],
  standard: Word,
): Word {
  const name = set[own] === undefined ? base : own;
  const given = set[name];
  const word = given === undefined ? standard : words.find((one) => one === given);
  if (word === undefined) throw new Mistake(`${name} must be ${words.join(" or ")}`);
  return word;
}

function wholeOf(set: Set, name: Name, [least, most]: readonly [number, number], standard: number): number {
  const given = set[name];
  if (given === undefined) return standard;
  const number = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new Mistake(`${name} must be a whole number from ${least} to ${most}`);
}

const standardRatio = 0.05;

function ratioOf({ OTEL_TRACES_SAMPLER_ARG: given }: Set): number {
  const ratio = given === undefined ? standardRatio : Number(given);
  if (ratio >= 0 && ratio <= 1) return ratio;
  throw new Mistake("OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1");
}

const samplers: Record<string, (set: Set) => Sampling> = {
  always_on: () => ({ byParent: false, ratio: 1 }),
  always_off: () => ({ byParent: false, ratio: 0 }),
  traceidratio: (set) => ({ byParent: false, ratio: ratioOf(set) }),
  parentbased_always_on: () => ({ byParent: true, ratio: 1 }),
  parentbased_always_off: () => ({ byParent: true, ratio: 0 }),
  parentbased_traceidratio: (set) => ({ byParent: true, ratio: ratioOf(set) }),
};

function samplingOf(set: Set): Sampling {
  const { OTEL_TRACES_SAMPLER: given = "parentbased_traceidratio" } = set;
  const read = Object.hasOwn(samplers, given) ? samplers[given] : undefined;
  if (read === undefined)
    throw new Mistake(`OTEL_TRACES_SAMPLER must be one of ${Object.keys(samplers).join(", ")}`);
  return read(set);
}

function batchOf(set: Set): TraceSettings["batch"] {
  const mostWaiting = wholeOf(set, "OTEL_BSP_MAX_QUEUE_SIZE", [1, 100_000], 2048);
  return {
    delayMs: wholeOf(set, "OTEL_BSP_SCHEDULE_DELAY", [1, 600_000], 5_000),
    timeoutMs: wholeOf(set, "OTEL_BSP_EXPORT_TIMEOUT", [1, 600_000], 30_000),
    mostWaiting,
    // Written out in one go: more would keep everybody waiting.
    mostAtOnce: Math.min(wholeOf(set, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", [1, 2048], 512), mostWaiting),
  };
}

function resourceOf(set: Set): Record<string, string> {
  return {
    "service.name": "waybill",
    ...pairsOf(set, "OTEL_RESOURCE_ATTRIBUTES", /^[\x21-\x2b\x2d-\x3c\x3e-\x7e]+$/),
    ...(set.OTEL_SERVICE_NAME === undefined ? {} : { "service.name": set.OTEL_SERVICE_NAME }),
  };
}

/** The parts of the settings, each read by itself, so that every mistake is told of. */
const parts: { [Part in keyof TraceSettings]: (set: Set) => TraceSettings[Part] } = {
  url: addressOf,
  headers: headersOf,
  form: (set) =>
    wordOf(
      set,
      ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"],
      ["http/protobuf", "http/json"],
      "http/protobuf",
    ) === "http/json"
      ? "json"
      : "protobuf",
  compresses: (set) =>
    wordOf(
      set,
      ["OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "OTEL_EXPORTER_OTLP_COMPRESSION"],
      ["none", "gzip"],
      "none",
    ) === "gzip",
  timeoutMs: (set) => {
    const own = set.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT !== undefined;
    const name = own ? "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT" : "OTEL_EXPORTER_OTLP_TIMEOUT";
    return wholeOf(set, name, [1, 600_000], 10_000);
  },
  resource: resourceOf,
  sampling: samplingOf,
  batch: batchOf,
};

/** Reads all parts. @returns them, and what is wrong, a sentence each. */
function readParts(set: Set): { settings: TraceSettings; mistakes: string[] } {
  const mistakes: string[] = [];
  const settings = Object.fromEntries(
    Object.entries(parts).map(([part, read]) => {
      try {
        return [part, read(set)];
      } catch (error) {
        if (!(error instanceof Mistake)) throw error;
        mistakes.push(error.message);
        return [part, undefined];
      }
    }),
  ) as unknown as TraceSettings;
  if (set.OTEL_TRACES_EXPORTER !== undefined && set.OTEL_TRACES_EXPORTER !== "otlp")
    mistakes.push("OTEL_TRACES_EXPORTER must be otlp or none");
  return { settings, mistakes };
}

/** Lists what is wrong with the variables, a sentence each; nothing while traces are off. */
export function traceMistakes(set: Set): string[] {
  return isOn(set) ? readParts(set).mistakes : [];
}

/** Reads where traces are exported to. */
export function tracesConfig(set: Set): TracesConfig {
  return { traces: isOn(set) ? readParts(set).settings : undefined };
}
