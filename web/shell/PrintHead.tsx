import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { flushSync } from "react-dom";

import { organizationsQuery, useAccount } from "../api/account.ts";
import { exactTime } from "../domain/times.ts";
import styles from "./PrintHead.module.css";

const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Opens what is folded while a page is printed. Style sheets do that, too, in browsers that can. */
function openFolds(): () => void {
  const folded = [...document.querySelectorAll<HTMLDetailsElement>("main details:not([open])")];
  for (const fold of folded) fold.open = true;
  return () => {
    for (const fold of folded) fold.open = false;
  };
}

/** Gives the moment of printing, in Unix seconds, and makes the page ready for it. */
function usePrinted(org: string): number {
  const [at, setAt] = useState(() => Date.now() / 1000);
  useEffect(() => {
    let close: (() => void) | undefined;
    const before = (): void => {
      close = openFolds();
      // What is printed is what stands there when this returns.
      flushSync(() => setAt(Date.now() / 1000));
      const line = `${org} · ${document.title} · ${exactTime(Date.now() / 1000)}`;
      document.documentElement.style.setProperty("--print-line", JSON.stringify(line));
    };
    const after = (): void => close?.();
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
    return () => {
      removeEventListener("beforeprint", before);
      removeEventListener("afterprint", after);
    };
  }, [org]);
  return at;
}

/** Says on paper of which organization a page is, where it was, when it was printed, by whom, and by which version. */
export function PrintHead({ org }: { org: string }) {
  const at = usePrinted(org);
  const account = useAccount();
  const { data: organizations = [] } = useQuery(organizationsQuery);
  const shown = organizations.find(({ name }) => name === org)?.display_name ?? "";
  return (
    <div className={styles["head"]} data-print-head>
      <p className={styles["org"]}>
        {shown === "" ? org : shown}
        {shown === "" || shown === org ? "" : ` (${org})`}
      </p>
      <dl>
        <dt>Printed</dt>
        <dd>
          <time dateTime={new Date(at * 1000).toISOString()}>{exactTime(at)}</time>
          {account === null || account === undefined ? ", not signed in" : ` by ${account.name}`}
        </dd>
        <dt>Address</dt>
        <dd>{location.href}</dd>
        <dt>Times</dt>
        <dd>as in {zone}</dd>
        <dt>From</dt>
        <dd>Waybill {__VERSION__}</dd>
      </dl>
    </div>
  );
}
