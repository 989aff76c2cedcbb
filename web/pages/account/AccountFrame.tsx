import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { useAccount } from "../../api/account.ts";
import icon from "../../icon.svg";
import { AccountMenu } from "../../shell/AccountMenu.tsx";
import styles from "./Account.module.css";

/** The frame of pages that belong to no organization. */
export function AccountFrame({ children }: { children: ReactNode }) {
  const account = useAccount();
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
          {account?.is_instance_admin === true ? <Link to="/-/instance">Instance</Link> : null}
        </nav>
        <div className={styles["who"]}>
          <AccountMenu />
        </div>
      </header>
      <main id="content" className={styles["content"]}>
        {children}
      </main>
    </div>
  );
}
