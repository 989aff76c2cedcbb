import { type ReactNode, useEffect } from "react";

import icon from "../../icon.svg";
import styles from "./Account.module.css";

interface EntryFrameProps {
  /** What the window is called. */
  title: string;
  heading: string;
  lead: ReactNode;
  children: ReactNode;
}

/** The frame of pages by which people come in: they have no session yet. */
export function EntryFrame({ title, heading, lead, children }: EntryFrameProps) {
  useEffect(() => {
    document.title = `${title} · Waybill`;
  }, [title]);
  return (
    <main className={styles["page"]}>
      <div className={styles["box"]}>
        <div className={styles["brand"]}>
          <img src={icon} alt="" />
          Waybill
        </div>
        <div>
          <h1 tabIndex={-1}>{heading}</h1>
          <p className={styles["lead"]}>{lead}</p>
        </div>
        {children}
      </div>
    </main>
  );
}
