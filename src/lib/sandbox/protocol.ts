/** One thing to do with untrusted text, inside a worker. `schema` and `input` are JSON texts. */
export type Step =
  /** Checks that this is a usable JSON Schema. */
  | { kind: "check_schema"; schema: string }
  /** Checks the job's input against this JSON Schema. */
  | { kind: "validate"; schema: string }
  /** Checks that this is a jq program, without running it. */
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

/** How a step ended. Schema steps fill `problems`; jq steps put jq's error message into `failure`. */
export interface StepResult {
  problems: Problem[];
  failure?: string;
}

/** The limit at which a job was ended. */
export type Limit = "time" | "memory" | "output" | "crash";

/** The end of a job for lack of the machine's memory, which is not the job's fault. */
export type Shortage = "shortage";

export interface JobResult {
  /** Results of the finished steps, in order. */
  results: StepResult[];
  /** Output of the jq programs, also when the job was cut short. */
  output: string;
  /** Set when the job was cut short. */
  limit?: Limit;
}

/** A message from a worker to the pool. */
export type Message =
  /** Sent once it can take jobs, with its thread id in the kernel, where there is one. */
  | { kind: "ready"; kernelId: string | undefined }
  | { kind: "output"; text: string }
  | { kind: "result"; result: StepResult }
  | { kind: "done"; limit?: Limit | Shortage };
