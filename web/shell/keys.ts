import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import { basePath } from "../api/client.ts";
import { copyText } from "../ui/clipboard.ts";
import { navigation } from "./navigation.ts";
import { singleKeysAreOn } from "./single-keys.ts";

/** Says whether what is typed goes into a field, or a dialog takes the keys. */
function isTaken(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest("input, textarea, select, [contenteditable], .cm-editor, dialog") !== null
  );
}

const destinations = new Map<string, (typeof navigation)[number]["entries"][number]["to"]>(
  navigation.flatMap(({ entries }) =>
    entries.flatMap((entry) => ("key" in entry ? [[entry.key, entry.to] as const] : [])),
  ),
);

/** Moves among the rows of the page's tables. */
function moveRow(by: number): void {
  const links = [...document.querySelectorAll<HTMLElement>("main tr[data-row] td :is(a, button)")].filter(
    (link, index, all) => link.closest("tr") !== all[index - 1]?.closest("tr"),
  );
  const at = links.findIndex((link) => link.closest("tr")?.contains(document.activeElement) === true);
  links[Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
}

/** Keys that do what something on the page says it does for them, in `aria-keyshortcuts`. */
const pageKeys = ["w", "d", "[", "]"] as const;

/** Presses what has the key: in the row that the focus is in, else the first on the page. */
function pressWhatHas(key: string): void {
  const wanted = `[aria-keyshortcuts="${key}"]`;
  const row = document.activeElement?.closest("main tr[data-row]");
  const found =
    row?.querySelector<HTMLElement>(wanted) ?? document.querySelector<HTMLElement>(`main ${wanted}`);
  found?.focus();
  found?.click();
}

/** Gives the address of what is shown, which shows the same tomorrow: the page says it where its own address would not. */
function permanentAddress(): string {
  const { permanent, asOf } =
    document.querySelector<HTMLElement>("main [data-permanent], main [data-as-of]")?.dataset ?? {};
  const address = new URL(
    permanent === undefined ? location.href : `${location.origin}${basePath}${permanent.slice(1)}`,
  );
  if (asOf !== undefined) address.searchParams.set("until", String(Math.ceil(Number(asOf))));
  return address.href;
}

export interface KeyActions {
  openSearch: () => void;
  openActions: () => void;
  openHelp: () => void;
  /** Called with what was done that cannot be seen. */
  say: (words: string) => void;
}

/** Copies the permanent address of what is shown. */
export async function copyPermanentAddress(say: KeyActions["say"]): Promise<void> {
  const address = permanentAddress();
  say((await copyText(address)) ? `Copied ${address}` : "The browser does not let this page copy");
}

function singleKeys({ openSearch, openActions, openHelp, say }: KeyActions): Record<string, () => void> {
  return {
    "/": openSearch,
    "?": openHelp,
    ".": openActions,
    j: () => moveRow(1),
    k: () => moveRow(-1),
    y: () => void copyPermanentAddress(say),
    ...Object.fromEntries(pageKeys.map((key) => [key, () => pressWhatHas(key)])),
  };
}

/** How long `g` waits for the key that says where to go, in milliseconds. */
const patienceMs = 1_500;

/**
 * Listens to the keys of the whole app: search, help, going to a page after `g`, moving among rows, and what pages do by a key.
 * @param actions the same ones in each rendering.
 */
export function useKeys(org: string, actions: KeyActions): void {
  const navigate = useNavigate();
  const goesAt = useRef(0);
  useEffect(() => {
    const single = singleKeys(actions);
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        actions.openSearch();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTaken(event.target) || !singleKeysAreOn())
        return;
      const target = Date.now() - goesAt.current < patienceMs ? destinations.get(event.key) : undefined;
      goesAt.current = event.key === "g" ? Date.now() : 0;
      if (target === undefined && single[event.key] === undefined) return;
      event.preventDefault();
      if (target === undefined) single[event.key]?.();
      else void navigate({ to: target, params: { org } });
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [navigate, org, actions]);
}
