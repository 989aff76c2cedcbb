import { useState } from "react";

import { type Sending, sending, useActions } from "../../api/action.ts";

/** What can be moved in the tree. */
export type Thing =
  | { kind: "space"; id: string; name: string; in: string | null }
  | { kind: "environment" | "flow"; name: string; in: string | null };

/** A move that was made, and can be undone. */
interface Move {
  thing: Thing;
  to: string | null;
}

/** A move that was refused, or got no answer. */
interface FailedMove {
  thing: Thing;
  error: Error;
}

export interface Moves {
  /** Moves a thing into a space; null is the root. */
  move: (thing: Thing, to: string | null) => void;
  undo: () => void;
  /** What was moved last; undefined before that, and once undone. */
  last: Move | undefined;
  isPending: boolean;
  /** What could not be moved, of the moves since nothing was under way. */
  failed: readonly FailedMove[];
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
  const [underWay, setUnderWay] = useState(0);
  const [failed, setFailed] = useState<readonly FailedMove[]>([]);
  const { mutateAsync } = useActions(() => {});
  const send = async (thing: Thing, to: string | null, done: () => void): Promise<void> => {
    // What failed is told of until something is moved after it; a move that was begun before it is not.
    if (underWay === 0) setFailed([]);
    setUnderWay((count) => count + 1);
    try {
      await mutateAsync([moveOf(org, thing, to)]);
      done();
    } catch (error) {
      setFailed((before) => [...before, { thing, error: error as Error }]);
    } finally {
      setUnderWay((count) => count - 1);
    }
  };
  return {
    move: (thing, to) => void send(thing, to, () => setLast({ thing, to })),
    undo: () => {
      if (last !== undefined) void send(last.thing, last.thing.in, () => setLast(undefined));
    },
    last,
    isPending: underWay > 0,
    failed,
  };
}
