/** How large the shapes are. */
export interface Scale {
  /** Artifacts of the largest environment, and rules of the policy it is judged by. */
  artifacts: number;
  rules: number;
  /** Artifacts of those that some flows have built. */
  built: number;
  /** Readers of a large answer at once. */
  readers: number;
  /** Attestations of the largest trail. */
  attestations: number;
  /** Bytes of a large body of JSON. */
  bodyBytes: number;
  /** Such bodies at once. */
  bodies: number;
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
  /** Events that are told to targets which never answer. */
  events: number;
  /** How long what takes no end by itself is kept up, in milliseconds. */
  holdMs: number;
  /** How long memory may take to come back, in milliseconds. */
  calmMs: number;
}

const megabyte = 1024 * 1024;

/** What `npm run attack` does: the limits of the program, or what was seen to hurt. */
export const fullScale: Scale = {
  artifacts: 10_000,
  rules: 50,
  built: 1000,
  readers: 6,
  attestations: 5000,
  bodyBytes: 12 * megabyte - 1024,
  bodies: 8,
  stalled: 800,
  idle: 1000,
  deaf: 120,
  downloads: 1000,
  fileBytes: 10 * megabyte,
  pipelined: 2000,
  events: 300,
  holdMs: 15_000,
  calmMs: 90_000,
};

/** What the tests do: enough to hold a careless server for seconds, in less than a minute. */
export const shortScale: Scale = {
  artifacts: 2000,
  rules: 50,
  built: 100,
  readers: 2,
  attestations: 300,
  bodyBytes: 6 * megabyte,
  bodies: 2,
  stalled: 150,
  idle: 200,
  deaf: 20,
  downloads: 50,
  fileBytes: 4 * megabyte,
  pipelined: 500,
  events: 20,
  holdMs: 1500,
  calmMs: 20_000,
};
