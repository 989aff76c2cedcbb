import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import { type Connection, lookForServer, useConnection } from "../api/connection.ts";
import { exactTime } from "../domain/times.ts";
import { Button } from "../ui/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import styles from "./ConnectionBar.module.css";

/** How often to look whether the server is there again, in milliseconds. */
const lookMs = 5_000;

/** Looks again and again for a server that is not there, and has everything that is shown read again once it is. */
function useReturn({ isThere, isOffline }: Connection): void {
  const queries = useQueryClient();
  const wasThere = useRef(isThere);
  useEffect(() => {
    if (isThere && !wasThere.current) void queries.invalidateQueries();
    wasThere.current = isThere;
    if (isThere) return undefined;
    if (!isOffline) void lookForServer();
    const timer = setInterval(() => void lookForServer(), lookMs);
    return () => clearInterval(timer);
  }, [isThere, isOffline, queries]);
}

/** Says that the server cannot be reached, and of when what is shown is: all of it stays. */
export function ConnectionBar() {
  const connection = useConnection();
  useReturn(connection);
  const { isThere, isOffline, answeredAt } = connection;
  return (
    <div role="status" data-no-print>
      {isThere ? null : (
        <div className={styles["bar"]}>
          <Icon name="silence" />
          <p>
            <strong>{isOffline ? "This machine is offline" : "The server cannot be reached"}.</strong> What is
            shown is as of {exactTime(answeredAt).slice(11)}.
          </p>
          <Button look="quiet" onClick={() => void lookForServer()}>
            Try now
          </Button>
        </div>
      )}
    </div>
  );
}
