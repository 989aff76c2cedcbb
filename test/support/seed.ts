import fc from "fast-check";

/**
 * Property tests try the same values on every run, so that a change is judged by what it changes. `FC_SEED=random` tries
 * other ones, `FC_SEED=<number>` repeats a run that failed.
 */
const given = process.env["FC_SEED"] ?? "20261121";
if (given !== "random") fc.configureGlobal({ seed: Number(given) });
