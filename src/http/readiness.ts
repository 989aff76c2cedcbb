import { probeWrite } from "../db/write-probe.ts";
import { answerWithin } from "../lib/answer-within.ts";
import { isDiskFull } from "../lib/shortage.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { shortageOf } from "./shortage.ts";

/** How long a write that went well stands for others, in milliseconds; one that failed is tried again sooner. */
const goodForMs = 5_000;
const badForMs = 1_000;

const patienceMs = 5_000;

/** Tells why the server cannot do its work; undefined when it can. */
export type Problem = string | undefined;

type Needed = Pick<Deps, "db" | "evidence" | "log">;

async function databaseProblem({ db }: Needed): Promise<Problem> {
  try {
    await probeWrite(db.pool);
    return undefined;
  } catch (error) {
    return shortageOf(error) ?? "The database is not available";
  }
}

async function evidenceProblem({ evidence }: Needed): Promise<Problem> {
  try {
    await evidence.probeRoom();
    return undefined;
  } catch (error) {
    if (isDiskFull(error)) return "The disk of the evidence storage is full";
    return shortageOf(error) ?? "The evidence storage cannot be written";
  }
}

/** Tries to write wherever the server writes. */
function writeProblem(deps: Needed): Promise<Problem> {
  const both = Promise.all([databaseProblem(deps), evidenceProblem(deps)]);
  return answerWithin(
    patienceMs,
    both.then((problems) => problems.find((problem) => problem !== undefined)),
    () => "The database or the evidence storage does not answer",
  );
}

/**
 * Answers whether anything can be written, from a trial that is made when somebody asks, for all who ask within a few
 * seconds.
 */
export function createReadiness(deps: Needed): () => Promise<Problem> {
  let last: { at: number; problem: Promise<Problem>; goodFor: number } | undefined;
  let told: Problem;
  return () => {
    const now = performance.now();
    if (last !== undefined && now - last.at < last.goodFor) return last.problem;
    const trial = { at: now, problem: writeProblem(deps), goodFor: patienceMs };
    last = trial;
    return trial.problem.then((problem) => {
      trial.at = performance.now();
      trial.goodFor = problem === undefined ? goodForMs : badForMs;
      if (problem !== told)
        deps.log[problem === undefined ? "info" : "error"]({ problem: problem ?? null }, "readiness changed");
      told = problem;
      return problem;
    });
  };
}
