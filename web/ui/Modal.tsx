import { type ReactNode, useLayoutEffect, useRef } from "react";

interface ModalProps {
  className: string | undefined;
  onClose: () => void;
  /** Id of what names it, or its name. */
  labelledBy?: string;
  label?: string;
  children: ReactNode;
}

/** What stands over the page until it is closed; what mounts it opens it. Esc and a click beside it close it. */
export function Modal({ className, onClose, labelledBy, label, children }: ModalProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const isPressedBeside = useRef(false);
  // Closed while it is still there, it gives the focus back to what opened it.
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    // Esc does by keyboard what a click beside it does.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions
    <dialog
      ref={ref}
      className={className}
      aria-labelledby={labelledBy}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onPointerDown={(event) => {
        isPressedBeside.current = event.target === ref.current;
      }}
      onClick={(event) => {
        // Who selects text may let go beside it.
        if (event.target === ref.current && isPressedBeside.current) onClose();
      }}
    >
      {children}
    </dialog>
  );
}
