import { type KeyboardEvent, type ReactNode, useLayoutEffect, useRef } from "react";

interface ModalProps {
  className: string | undefined;
  /** Called when somebody wants it closed, by Esc or a click beside it. It stays until it is no longer mounted. */
  onClose: () => void;
  /** Id of what names it, or its name. */
  labelledBy?: string;
  label?: string;
  children: ReactNode;
}

/** Whether Esc is for something in it: a menu that is open, or words that are searched for. */
function isForPart(dialog: Element, target: EventTarget): boolean {
  const isSearch = target instanceof HTMLInputElement && target.type === "search" && target.value !== "";
  return isSearch || dialog.querySelector(":popover-open") !== null;
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
  // Left to the browser, a second Esc closes it whatever it says to the first, and others that were opened by keys with it.
  const press = (event: KeyboardEvent<HTMLDialogElement>): void => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    if (isForPart(event.currentTarget, event.target)) return;
    event.preventDefault();
    onClose();
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <dialog
      ref={ref}
      className={className}
      aria-labelledby={labelledBy}
      aria-label={label}
      onKeyDown={press}
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
