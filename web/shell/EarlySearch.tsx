import { type ComponentProps, useEffect, useState } from "react";

import type { SearchPalette } from "./SearchPalette.tsx";

interface Search {
  SearchPalette: typeof SearchPalette;
}

let search: Search | undefined;

/** How long pages have to themselves before the search is fetched, in milliseconds. */
const earlyMs = 300;

/** Fetches the search before it is opened, so that it opens at once, without a network as well. */
async function fetchSearch(): Promise<Search> {
  search ??= await import("./SearchPalette.tsx");
  return search;
}

addEventListener("load", () => {
  setTimeout(() => {
    fetchSearch().catch(() => undefined);
  }, earlyMs);
});

/**
 * The search, which is not part of what each page begins with. React's own way to wait for it would hold it back for 300 ms.
 * @throws where it does not arrive, to the `LatePart` around it.
 */
export function EarlySearch(props: ComponentProps<typeof SearchPalette>) {
  const [loaded, setLoaded] = useState(search);
  const [failure, setFailure] = useState<{ error: unknown }>();
  useEffect(() => {
    if (loaded === undefined) fetchSearch().then(setLoaded, (error: unknown) => setFailure({ error }));
  }, [loaded]);
  if (failure !== undefined) throw failure.error;
  return loaded === undefined ? null : <loaded.SearchPalette {...props} />;
}
