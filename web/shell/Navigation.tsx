import { Link, useRouterState } from "@tanstack/react-router";

import { Icon } from "../ui/Icon.tsx";
import styles from "./Frame.module.css";
import { navigation } from "./navigation.ts";

/** Says whether a page belongs to an entry: it is that one, or lies below it. */
function isCurrent(path: string, org: string, to: string): boolean {
  const target = to.replace("$org", encodeURIComponent(org));
  return path === target || (to !== "/$org" && path.startsWith(`${target}/`));
}

/** Leads to all parts of an organization. */
export function Navigation({ org, onGo }: { org: string; onGo: () => void }) {
  const path = useRouterState({ select: ({ location }) => location.pathname.replace(/\/$/, "") });
  return (
    <nav aria-label="Organization">
      {navigation.map(({ title, entries }) => (
        <div key={title}>
          <h2 className={styles["group"]}>{title}</h2>
          <ul>
            {entries.map(({ to, words, icon }) => {
              const current = isCurrent(path, org, to);
              return (
                <li key={to}>
                  <Link
                    to={to}
                    params={{ org }}
                    className={styles["entry"]}
                    data-current={current}
                    aria-current={current ? "page" : undefined}
                    onClick={onGo}
                  >
                    <Icon name={icon} />
                    {words}
                  </Link>
                </li>
              );
            })}
          </ul>
        </div>
      ))}
    </nav>
  );
}
