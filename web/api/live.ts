import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { type Dispatch, type SetStateAction, useEffect, useState } from "react";

import { isTouchedBy } from "../domain/live.ts";
import { basePath } from "./client.ts";
import { lookForServer } from "./connection.ts";
import { ApiError } from "./errors.ts";

/** What is known of being told of changes: told at once, or looked for now and then. */
export interface Live {
  isLive: boolean;
  /** When it was last known that everything shown is current, in Unix seconds. */
  asOf: number;
}

/** Without a sign of life for so long the stream counts as cut, in milliseconds. It comes every 15 seconds. */
const silenceMs = 40_000;
/** Changes within so long are told together, in milliseconds. */
const gatherMs = 400;
/** How often to look while nobody tells, in milliseconds. */
const lookMs = 20_000;
/** How long to wait before a stream that was refused is asked for again, in milliseconds: at first, and at most. */
const reopenMs = { first: 3_000, most: 60_000 };

interface Told {
  topic: Parameters<typeof isTouchedBy>[2]["topic"];
  name: string | null;
}

/** Reads again what was shown of these things. */
function readAgain(queries: QueryClient, changes: readonly Told[]): void {
  void queries.invalidateQueries({
    predicate: ({ queryKey: [operation, input] }) =>
      typeof operation === "string" &&
      typeof input === "object" &&
      changes.some((change) => isTouchedBy(operation, input as Parameters<typeof isTouchedBy>[1], change)),
  });
}

interface Listener {
  onSign: () => void;
  onChange: (change: Told) => void;
  onReset: () => void;
  /** The stream is cut. */
  onCut: () => void;
}

/**
 * Opens the stream of what changes in an organization. When it is cut the browser asks for it again by itself, and for what was
 * missed, unless it was refused.
 */
function openStream(
  org: string,
  { onSign, onChange, onReset, onCut, onRefused }: Listener & { onRefused: () => void },
): EventSource {
  const source = new EventSource(`${basePath}api/v2/changes/${encodeURIComponent(org)}`);
  source.addEventListener("error", () => {
    onCut();
    if (source.readyState === EventSource.CLOSED) onRefused();
  });
  source.addEventListener("ready", onSign);
  source.addEventListener("heartbeat", onSign);
  source.addEventListener("reset", () => {
    onSign();
    onReset();
  });
  source.addEventListener("change", (event: MessageEvent<string>) => {
    onSign();
    onChange(JSON.parse(event.data) as Told);
  });
  return source;
}

/**
 * Listens to what changes in an organization. A stream that was refused, as by a proxy whose server is away, is opened anew, and
 * everything read again then: a new one does not tell what was missed.
 * @param hasMissed whether it was listened before, and something may have been missed.
 * @returns what ends that.
 */
function listen(org: string, hasMissed: boolean, listener: Listener): () => void {
  let again: ReturnType<typeof setTimeout> | undefined;
  let isOld = hasMissed;
  let wait = reopenMs.first;
  const open = (): EventSource =>
    openStream(org, {
      ...listener,
      onSign: () => {
        listener.onSign();
        wait = reopenMs.first;
        if (isOld) listener.onReset();
        isOld = false;
      },
      onRefused: () => {
        isOld = true;
        again = setTimeout(() => (source = open()), wait);
        wait = Math.min(2 * wait, reopenMs.most);
      },
    });
  let source = open();
  return () => {
    clearTimeout(again);
    source.close();
  };
}

/** Says whether something that is shown could not be read again because the server was not reached. */
function isUnreached(queries: QueryClient): boolean {
  const shown = queries.getQueryCache().findAll({ type: "active" });
  return shown.some(
    ({ state: { error } }) => error instanceof ApiError && (error.status === 0 || error.status >= 500),
  );
}

interface Following {
  org: string;
  queries: QueryClient;
  setLive: Dispatch<SetStateAction<Live>>;
  /** Whether changes were followed before. */
  isAgain: boolean;
}

/** Keeps one connection through which changes are told, and passes them on in handfuls. */
function follow({ org, queries, setLive, isAgain }: Following): () => void {
  let changes: Told[] = [];
  let gathering: ReturnType<typeof setTimeout> | undefined;
  let lastSign = 0;
  const flush = (): void => {
    // Everything is read again when what this page writes is done: whoever deletes what is shown has left it by then.
    if (queries.isMutating() > 0) {
      gathering = setTimeout(flush, gatherMs);
      return;
    }
    gathering = undefined;
    readAgain(queries, changes);
    changes = [];
  };
  const end = listen(org, isAgain, {
    onSign: () => {
      lastSign = Date.now();
      setLive({ isLive: true, asOf: lastSign / 1000 });
    },
    onChange: (change) => {
      changes.push(change);
      gathering ??= setTimeout(flush, gatherMs);
    },
    onReset: () => void queries.invalidateQueries(),
    onCut: () => {
      setLive((before) => ({ ...before, isLive: false }));
      // Whether the server is still there is not known otherwise before something is asked for.
      void lookForServer();
    },
  });
  const watch = setInterval(() => {
    if (Date.now() - lastSign < silenceMs) return;
    const asOf = Date.now() / 1000;
    void queries.invalidateQueries().then(() => {
      setLive((before) => ({ isLive: false, asOf: isUnreached(queries) ? before.asOf : asOf }));
    });
  }, lookMs);
  return () => {
    end();
    clearTimeout(gathering);
    clearInterval(watch);
  };
}

/** Keeps what is shown of an organization current while the page can be seen: tabs in the background catch up when they come back. */
export function useLive(org: string): Live {
  const queries = useQueryClient();
  const [live, setLive] = useState<Live>(() => ({ isLive: false, asOf: Date.now() / 1000 }));
  useEffect(() => {
    let stop: (() => void) | undefined;
    let isAgain = false;
    const onVisible = (): void => {
      stop?.();
      stop = document.hidden ? undefined : follow({ org, queries, setLive, isAgain });
      isAgain ||= !document.hidden;
    };
    onVisible();
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      document.removeEventListener("visibilitychange", onVisible);
      stop?.();
    };
  }, [org, queries]);
  return live;
}
