import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import icon from "../../icon.svg";
import styles from "./Account.module.css";

/** The frame of pages that belong to no organization. */
export function AccountFrame({ children }: { children: ReactNode }) {
  return (
    <div className={styles["plain"]}>
      <header className={styles["bar"]}>
        <Link to="/" className={styles["brand"]}>
          <img src={icon} alt="" />
          Waybill
        </Link>
        <nav aria-label="Account">
          <Link to="/-/organizations">Organizations</Link>
          <Link to="/-/profile">Profile</Link>
        </nav>
      </header>
      <main id="content" className={styles["content"]}>
        {children}
      </main>
    </div>
  );
}
