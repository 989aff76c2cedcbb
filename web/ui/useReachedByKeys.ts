import { type HTMLAttributes, type RefObject, useLayoutEffect, useState } from "react";

/**
 * Gives what an element needs to be reached and scrolled with the keyboard while it is wider inside than outside: cells without links or
 * buttons are out of sight for good otherwise.
 */
export function useReachedByKeys(
  ref: RefObject<HTMLElement | null>,
  label: string,
): HTMLAttributes<HTMLElement> {
  const [isWider, setIsWider] = useState(false);
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const measure = (): void => setIsWider(element.scrollWidth > element.clientWidth);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    // What is inside may become wider by itself: by other rows.
    for (const inside of element.children) observer.observe(inside);
    measure();
    return () => observer.disconnect();
  }, [ref]);
  return isWider ? { tabIndex: 0, role: "group", "aria-label": label } : {};
}
