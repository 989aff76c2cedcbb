import { Link } from "@tanstack/react-router";

import { buttonClass } from "../ui/Button.tsx";
import { Empty } from "../ui/Empty.tsx";
import styles from "./Frame.module.css";

/** What an address without a page shows. */
export function NotFound() {
  return (
    <main className={styles["alone"]}>
      <h1 tabIndex={-1} className="visually-hidden">
        No page has this address
      </h1>
      <Empty
        title="No page has this address"
        text="It may have been mistyped, or what it showed was renamed."
      >
        <p className={styles["centered"]}>
          <Link to="/" className={buttonClass("primary")}>
            To the start
          </Link>
        </p>
      </Empty>
    </main>
  );
}
