import { useSyncExternalStore } from "react";

const printing = matchMedia("print");

function listen(listener: () => void): () => void {
  printing.addEventListener("change", listener);
  return () => printing.removeEventListener("change", listener);
}

/** Tells whether the page is being printed, when what is not drawn on a screen has to be there. */
export function usePrinting(): boolean {
  return useSyncExternalStore(listen, () => printing.matches);
}
