import { useSyncExternalStore } from "react";

import { basePath } from "../api/client.ts";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

export const themeWords: Readonly<Record<Theme, string>> = {
  system: "Theme of this device",
  light: "Light theme",
  dark: "Dark theme",
};

const root = document.documentElement;
const listeners = new Set<() => void>();

function current(): Theme {
  return themes.find((theme) => theme === root.dataset["theme"]) ?? "system";
}

/** Chooses the theme, now and in a cookie that the server writes into the next page's head, so that nothing flashes. */
export function chooseTheme(theme: Theme): void {
  root.dataset["theme"] = theme;
  document.cookie = `waybill-theme=${theme}; Path=${basePath}; Max-Age=31536000; SameSite=Lax`;
  for (const listener of listeners) listener();
}

/** Gives the chosen theme. */
export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, current);
}
