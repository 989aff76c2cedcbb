import { mebibyte } from "../src/lib/units.ts";

/** Sizes of the shapes. */
export interface Scale {
  /** Artifacts of the largest environment, and rules of its policy. */
  artifacts: number;
  rules: number;
  /** Artifacts that flows have built, for the shapes that need provenance. */
  built: number;
  /** Simultaneous readers of a large answer. */
  readers: number;
  /** Attestations of the largest trail. */
  attestations: number;
  /** Bytes of a large body of JSON. */
  bodyBytes: number;
  /** Such bodies sent at once. */
  bodies: number;
  /** To how many addresses each of them goes, in turn. */
  bodyPaths: number;
  /** Connections that send a body to an unknown webhook and stop before its end. */
  stalled: number;
  /** Connections that send nothing, or their headers letter by letter. */
  idle: number;
  /** Connections that ask for a large answer and never read it. */
  deaf: number;
  /** Readers of one file of evidence at once, and its bytes. */
  downloads: number;
  fileBytes: number;
  /** Requests written to one connection without reading. */
  pipelined: number;
  /** Events whose notifications go to targets that never answer. */
  events: number;
  /** Duration of shapes that do not end by themselves, in milliseconds. */
  holdMs: number;
  /** How long nothing is done before the first shape, in milliseconds. */
  restMs: number;
  /** How long memory may take to be given back, in milliseconds. */
  calmMs: number;
}

/** The sizes of `npm run attack`: the limits of the program, or what was seen to hurt. */
export const fullScale: Scale = {
  artifacts: 10_000,
  rules: 50,
  built: 1000,
  readers: 6,
  attestations: 5000,
  bodyBytes: 12 * mebibyte - 1024,
  bodies: 8,
  bodyPaths: 3,
  stalled: 800,
  idle: 1000,
  deaf: 120,
  downloads: 1000,
  fileBytes: 10 * mebibyte,
  pipelined: 2000,
  events: 300,
  holdMs: 15_000,
  restMs: 4000,
  calmMs: 90_000,
};

/** The sizes of the tests: enough to hold up a careless server for seconds, in less than a minute. */
export const shortScale: Scale = {
  artifacts: 2000,
  rules: 20,
  built: 100,
  readers: 2,
  attestations: 300,
  bodyBytes: 6 * mebibyte,
  bodies: 2,
  bodyPaths: 1,
  stalled: 150,
  idle: 200,
  deaf: 20,
  downloads: 50,
  fileBytes: 4 * mebibyte,
  pipelined: 500,
  events: 20,
  holdMs: 1500,
  restMs: 1000,
  calmMs: 20_000,
};
