import { type ReactNode, useId, useRef } from "react";

import { buttonClass, type ButtonLook } from "./Button.tsx";
import { Icon, type IconName } from "./Icon.tsx";
import styles from "./Menu.module.css";

interface MenuProps {
  label: string;
  /** Shown on the button in place of its label. */
  face?: ReactNode;
  icon?: IconName;
  look?: ButtonLook;
  /** Which end of the button it lines up with. */
  from?: "start" | "end";
  className?: string | undefined;
  /** Links and buttons. Choosing one closes the menu. */
  children: ReactNode;
}

function focusables(menu: HTMLElement): HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>("a, button")];
}

function step(menu: HTMLElement, by: number): void {
  const items = focusables(menu);
  const at = items.indexOf(document.activeElement as HTMLElement);
  items[(at + by + items.length) % items.length]?.focus();
}

/** A button that opens a list of links and actions. Arrow keys move in it, Esc closes it. */
export function Menu({ label, face, icon, look = "plain", from = "end", className, children }: MenuProps) {
  const id = useId();
  const ref = useRef<HTMLDivElement>(null);
  const anchor = `--menu-${id.replaceAll(/[^\w-]/g, "")}`;
  return (
    <>
      <button
        type="button"
        className={className ?? buttonClass(look, face === undefined && icon !== undefined)}
        popoverTarget={id}
        aria-label={face === undefined && icon !== undefined ? label : undefined}
        style={{ anchorName: anchor }}
      >
        {icon === undefined ? null : <Icon name={icon} />}
        {face ?? (icon === undefined ? label : null)}
      </button>
      {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions */}
      <div
        ref={ref}
        id={id}
        popover="auto"
        className={styles["menu"]}
        data-from={from}
        style={{ positionAnchor: anchor }}
        onClick={(event) => {
          if ((event.target as Element).closest("a, button") !== null) ref.current?.hidePopover();
        }}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
          event.preventDefault();
          step(event.currentTarget, event.key === "ArrowDown" ? 1 : -1);
        }}
        onToggle={(event) => {
          if (event.newState === "open") focusables(event.currentTarget)[0]?.focus({ preventScroll: true });
        }}
      >
        {children}
      </div>
    </>
  );
}
