import { createContext, useContext } from "react";

/** Opens the search over everything, with these words in it. */
export type OpenSearch = (words?: string) => void;

const OpenSearchContext = createContext<OpenSearch | undefined>(undefined);

/** Gives what opens the search to everything below it. */
export const SearchProvider = OpenSearchContext.Provider;

/** Gives what opens the search; undefined on pages that belong to no organization. */
export function useOpenSearch(): OpenSearch | undefined {
  return useContext(OpenSearchContext);
}
