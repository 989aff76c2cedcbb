import type { Deps } from "./deps.ts";

/**
 * Gives what all requests of a program share of what one of them works with: each may have its own, which notes what its statements take.
 * What is kept beyond a request, or done for several, has to be kept and done with this.
 */
export function sharedDeps<Given extends Pick<Deps, "request">>(deps: Given): Given | Deps {
  return deps.request?.shared ?? deps;
}

/**
 * Makes a function that gives something which all requests of a program share, whichever of them asks.
 * @param make makes it, when it is asked for the first time.
 */
export function keptByProgram<Kept>(make: (deps: Deps) => Kept): (deps: Deps) => Kept {
  const kept = new WeakMap<Deps, Kept>();
  return (given) => {
    const deps = sharedDeps(given);
    const known = kept.get(deps);
    if (known !== undefined) return known;
    const made = make(deps);
    kept.set(deps, made);
    return made;
  };
}
