/** One thing to do with untrusted text, inside a worker. Texts called `schema` and `input` are JSON. */
export type Step =
  /** Is this a JSON Schema that can be used? */
  | { kind: "check_schema"; schema: string }
  /** Does the job's input fit this JSON Schema? */
  | { kind: "validate"; schema: string }
  /** Is this a jq program? It is not run. */
  | { kind: "compile"; program: string }
  /** Runs a jq program on the job's input. */
  | { kind: "run"; program: string };

/** Steps that share one worker and one limit of processor time. Input that does not fit a schema ends them. */
export interface Job {
  /** JSON text. */
  input?: string;
  steps: Step[];
}

/** What is wrong where: a JSON pointer into the schema or the input, and a reason. */
export interface Problem {
  path: string;
  reason: string;
}

/** How a step ended. Schema steps fill `problems`; jq steps say in `failure` what jq had to complain about. */
export interface StepResult {
  problems: Problem[];
  failure?: string;
}

/** Why a job was ended from outside. */
export type Limit = "time" | "memory" | "output" | "crash";

/** What no job is to blame for: the machine had no memory for it. */
export type Shortage = "shortage";

export interface JobResult {
  /** Of the steps that were finished, in order. */
  results: StepResult[];
  /** What jq programs wrote, also when the job was cut short. */
  output: string;
  /** Set when the job was cut short. */
  limit?: Limit;
}

/** What a worker tells while it works. */
export type Message =
  /** The number of its thread in the kernel, where there is one. */
  | { kind: "ready"; kernelId: string | undefined }
  | { kind: "output"; text: string }
  | { kind: "result"; result: StepResult }
  | { kind: "done"; limit?: Limit | Shortage };
