import { useSyncExternalStore } from "react";

/** Storage key of the switch that silences single keys. */
const silencedKey = "waybill-single-keys-off";

const listeners = new Set<() => void>();

/** Says whether single keys do something. */
export function singleKeysAreOn(): boolean {
  return localStorage.getItem(silencedKey) === null;
}

/** Switches single keys on or off, in this browser. */
export function switchSingleKeys(isOn: boolean): void {
  if (isOn) localStorage.removeItem(silencedKey);
  else localStorage.setItem(silencedKey, "1");
  for (const listener of listeners) listener();
}

/** Gives whether single keys do something, wherever that is switched. */
export function useSingleKeys(): boolean {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, singleKeysAreOn);
}
