import { type ReactNode, useLayoutEffect, useRef } from "react";

interface ModalProps {
  className: string | undefined;
  onClose: () => void;
  /** Id of what names it, or its name. */
  labelledBy?: string;
  label?: string;
  /** Says whether only what closes it on purpose does: a click beside it would lose something. */
  isHeld?: () => boolean;
  /** Called when something is written or chosen in it. */
  onInput?: () => void;
  children: ReactNode;
}

/** What stands over the page until it is closed; what mounts it opens it. Esc closes it, and a click beside it unless it is held. */
export function Modal({ className, onClose, labelledBy, label, isHeld, onInput, children }: ModalProps) {
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
      onInput={onInput}
      onPointerDown={(event) => {
        isPressedBeside.current = event.target === ref.current;
      }}
      onClick={(event) => {
        // Who selects text may let go beside it.
        const isBeside = event.target === ref.current && isPressedBeside.current;
        if (isBeside && isHeld?.() !== true) onClose();
      }}
    >
      {children}
    </dialog>
  );
}
