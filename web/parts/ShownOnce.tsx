import type { ReactNode } from "react";

import { Button } from "../ui/Button.tsx";
import { CodeBlock } from "../ui/Copy.tsx";
import { Dialog, Foot } from "../ui/Dialog.tsx";
import { Note } from "../ui/Note.tsx";

interface ShownOnceProps {
  title: string;
  /** What the secret is: "API key". */
  label: string;
  value: string;
  /** What else is to be known of it. */
  children?: ReactNode;
  /** Has to forget the secret. */
  onClose: () => void;
}

/** Shows a secret, this once. */
export function ShownOnce({ title, label, value, children, onClose }: ShownOnceProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Note kind="warn">It is shown now and never again. Keep it where secrets are kept.</Note>
      <CodeBlock text={value} label={label} />
      {children}
      <Foot>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </Foot>
    </Dialog>
  );
}
