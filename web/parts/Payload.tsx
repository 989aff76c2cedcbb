import type { UseQueryResult } from "@tanstack/react-query";

import { CodeBlock } from "../ui/Copy.tsx";
import { Loaded } from "./Loaded.tsx";
import styles from "./Payload.module.css";

/** Shows what a delivery carried, as it was sent. */
export function Payload({ query }: { query: UseQueryResult<{ payload: Record<string, unknown> }> }) {
  return (
    <div className={styles["payload"]}>
      <Loaded query={query}>
        {({ payload }) => <CodeBlock text={JSON.stringify(payload, null, 2)} label="payload" />}
      </Loaded>
    </div>
  );
}
