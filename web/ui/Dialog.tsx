import { type FormEvent, type ReactNode, useEffect, useId, useRef } from "react";

import { Button } from "./Button.tsx";
import styles from "./Dialog.module.css";
import { Modal } from "./Modal.tsx";

interface DialogProps {
  title: string;
  onClose: () => void;
  isWide?: boolean;
  children: ReactNode;
}

const fields = "input:not([type='checkbox'], [type='radio']), select, textarea";

/** A dialog with a title over the page. */
export function Dialog({ title, onClose, isWide, children }: DialogProps) {
  const id = useId();
  const body = useRef<HTMLDivElement>(null);
  // Who opens it begins with what it asks for.
  useEffect(() => body.current?.querySelector<HTMLElement>(fields)?.focus(), []);
  return (
    <Modal
      className={isWide === true ? `${styles["dialog"]} ${styles["wide"]}` : styles["dialog"]}
      labelledBy={id}
      onClose={onClose}
    >
      <div className={styles["head"]}>
        <h2 id={id}>{title}</h2>
        <Button look="quiet" icon="close" aria-label="Close" onClick={onClose} />
      </div>
      <div ref={body} className={styles["body"]}>
        {children}
      </div>
    </Modal>
  );
}

/** A form that fills a dialog. */
export function DialogForm({
  onSubmit,
  children,
}: {
  onSubmit: (event: FormEvent) => void;
  children: ReactNode;
}) {
  return (
    <form className={styles["form"]} onSubmit={onSubmit}>
      {children}
    </form>
  );
}

/** The row of buttons that ends a dialog or a form. */
export function Foot({ children }: { children: ReactNode }) {
  return <div className={styles["foot"]}>{children}</div>;
}
