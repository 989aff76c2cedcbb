import { useState } from "react";

import { type Sending, sending, useAction } from "../../api/action.ts";

/** What can be moved in the tree. */
export type Thing =
  | { kind: "space"; id: string; name: string; in: string | null }
  | { kind: "environment" | "flow"; name: string; in: string | null };

/** A move that was made, and can be undone. */
interface Move {
  thing: Thing;
  to: string | null;
}

export interface Moves {
  /** Moves a thing into a space; null is the root. */
  move: (thing: Thing, to: string | null) => void;
  undo: () => void;
  /** What was moved last; undefined before that, and once undone. */
  last: Move | undefined;
  isPending: boolean;
  error: Error | null;
  forget: () => void;
}

/** Names the request that moves a thing. */
export function moveOf(org: string, thing: Thing, to: string | null): Sending {
  if (thing.kind === "space")
    return sending("PATCH /spaces/{org}/{space_id}", {
      params: { org, space_id: thing.id },
      body: { parent_id: to },
    });
  const body = { space_id: to };
  return thing.kind === "environment"
    ? sending("PATCH /environments/{org}/{env_name}", { params: { org, env_name: thing.name }, body })
    : sending("PATCH /flows/{org}/{flow_name}", { params: { org, flow_name: thing.name }, body });
}

/** Gives what moves spaces, environments and flows, saves that at once, and takes back the last move. */
export function useMoves(org: string): Moves {
  const [last, setLast] = useState<Move>();
  const spaces = useAction("PATCH /spaces/{org}/{space_id}");
  const environments = useAction("PATCH /environments/{org}/{env_name}");
  const flows = useAction("PATCH /flows/{org}/{flow_name}");
  const all = [spaces, environments, flows];
  const send = (thing: Thing, to: string | null, done: () => void): void => {
    for (const one of all) one.reset();
    const after = { onSuccess: done };
    if (thing.kind === "space")
      spaces.mutate({ params: { org, space_id: thing.id }, body: { parent_id: to } }, after);
    else if (thing.kind === "environment")
      environments.mutate({ params: { org, env_name: thing.name }, body: { space_id: to } }, after);
    else flows.mutate({ params: { org, flow_name: thing.name }, body: { space_id: to } }, after);
  };
  return {
    move: (thing, to) => send(thing, to, () => setLast({ thing, to })),
    undo: () => {
      if (last !== undefined) send(last.thing, last.thing.in, () => setLast(undefined));
    },
    last,
    isPending: all.some(({ isPending }) => isPending),
    error: all.find(({ error }) => error !== null)?.error ?? null,
    forget: () => setLast(undefined),
  };
}
