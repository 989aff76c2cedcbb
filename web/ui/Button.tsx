import type { ComponentProps, ReactNode } from "react";

import styles from "./Button.module.css";
import { Icon, type IconName } from "./Icon.tsx";

/** `danger` leads to what destroys something, `destroy` does it. */
export type ButtonLook = "plain" | "primary" | "danger" | "destroy" | "quiet";

/** Names the classes of a button, for links that look like one. */
export function buttonClass(look: ButtonLook = "plain", isIcon = false): string {
  return [styles["button"], look === "plain" ? "" : styles[look], isIcon ? styles["icon"] : ""]
    .filter((name) => name !== "")
    .join(" ");
}

interface ButtonProps extends Omit<ComponentProps<"button">, "disabled"> {
  look?: ButtonLook;
  icon?: IconName;
  /** Why it may not be used. It stays reachable, so that the reason is found. */
  refused?: string | undefined;
  children?: ReactNode;
}

/** A button. One that is refused can be reached, says why, and does nothing. */
export function Button({
  look = "plain",
  icon,
  refused,
  children,
  onClick,
  type = "button",
  ...rest
}: ButtonProps) {
  const isRefused = refused !== undefined;
  return (
    <button
      type={type}
      className={buttonClass(look, children === undefined)}
      aria-disabled={isRefused || undefined}
      title={refused}
      onClick={(event) => {
        if (isRefused) event.preventDefault();
        else onClick?.(event);
      }}
      {...rest}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
      {isRefused ? <span className="visually-hidden">({refused})</span> : null}
    </button>
  );
}
