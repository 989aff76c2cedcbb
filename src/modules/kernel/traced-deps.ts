import { StatementTrace, traceDatabase } from "../../db/statement-trace.ts";
import { traceEvidence } from "../../evidence/traced.ts";
import type { Span } from "../../lib/tracing/tracing.ts";
import type { Deps } from "./deps.ts";
import { sharedDeps } from "./program-deps.ts";

/** Gives what a piece of work goes on with: its statements, and what it asks of a bucket, are noted for it. */
export function tracedDeps(deps: Deps, trace: StatementTrace): Deps {
  const { db, evidence, config } = deps;
  return {
    ...deps,
    db: traceDatabase(db, trace),
    evidence:
      trace.span === undefined || config.evidence.s3 === undefined
        ? evidence
        : traceEvidence(evidence, trace.span),
    request: { trace, shared: sharedDeps(deps) },
  };
}

/**
 * Does what several requests share, which is nobody's own: it is shown as a part of the first that is recorded, and linked
 * with the others.
 */
export async function tracedTogether<T>(
  deps: Deps,
  name: string,
  recorded: readonly Span[],
  work: (deps: Deps) => Promise<T>,
): Promise<T> {
  const [first, ...others] = recorded;
  if (first === undefined) return work(deps);
  const span = first.child(name, { links: others.map(({ traceparent }) => traceparent) });
  try {
    return await work(tracedDeps(deps, new StatementTrace(span)));
  } finally {
    span.end();
  }
}
