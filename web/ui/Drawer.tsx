import { type ReactNode, useId } from "react";

import { Button } from "./Button.tsx";
import styles from "./Drawer.module.css";
import { Modal } from "./Modal.tsx";

interface DrawerProps {
  title: string;
  /** Stands above the title. */
  kind?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}

/** What is looked at beside the page it belongs to, from top to bottom at its end. */
export function Drawer({ title, kind, onClose, children }: DrawerProps) {
  const id = useId();
  return (
    <Modal className={styles["drawer"]} labelledBy={id} onClose={onClose}>
      <div className={styles["head"]}>
        <div>
          {kind === undefined ? null : <p>{kind}</p>}
          <h2 id={id}>{title}</h2>
        </div>
        <Button look="quiet" icon="close" aria-label="Close" onClick={onClose} />
      </div>
      <div className={styles["body"]}>{children}</div>
    </Modal>
  );
}
