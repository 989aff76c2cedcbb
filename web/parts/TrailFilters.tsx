import { useCallback } from "react";

import { listPeriodChoices } from "../domain/periods.ts";
import { type TrailSearch, trailStates } from "../domain/trail-search.ts";
import { Button } from "../ui/Button.tsx";
import { NoMatch } from "../ui/Empty.tsx";
import { Choice, FilterBar, SearchField } from "../ui/Field.tsx";
import { Note } from "../ui/Note.tsx";
import { Time } from "../ui/Time.tsx";

interface TrailFiltersProps {
  search: TrailSearch;
  /** Called with what changes; typing takes the place of the address before. */
  onSearch: (change: TrailSearch, replace?: boolean) => void;
  children?: React.ReactNode;
}

/** Filters of a list of trails. */
export function TrailFilters({ search, onSearch, children }: TrailFiltersProps) {
  const { failing, missing, before } = search;
  const type = useCallback(
    (text: string) => onSearch({ search: text === "" ? undefined : text, page: undefined }, true),
    [onSearch],
  );
  return (
    <FilterBar>
      <SearchField label="Name or commit" value={search.search ?? ""} onSearch={type} />
      <Choice
        label="State"
        value={search.state}
        choices={trailStates}
        onChoose={(state) => onSearch({ state, page: undefined })}
      />
      <Choice
        label="Began"
        value={search.since}
        choices={listPeriodChoices}
        onChoose={(since) => onSearch({ since, before: undefined, page: undefined })}
      />
      {children}
      <Chosen
        words={failing === undefined ? undefined : `${failing} fails`}
        onClear={() => onSearch({ failing: undefined, page: undefined })}
      />
      <Chosen
        words={missing === undefined ? undefined : `${missing} is missing`}
        onClear={() => onSearch({ missing: undefined, page: undefined })}
      />
      <Chosen
        words={before === undefined ? undefined : "older ones"}
        onClear={() => onSearch({ before: undefined, page: undefined })}
      />
    </FilterBar>
  );
}

/** A filter that was chosen elsewhere, which can be taken away here. */
export function Chosen({ words, onClear }: { words: string | undefined; onClear: () => void }) {
  if (words === undefined) return null;
  return (
    <Button icon="close" aria-label={`Take away the filter: ${words}`} onClick={onClear}>
      {words}
    </Button>
  );
}

/** Says which trails a search looks at, which are so many at most. */
const searchedWords = ({ before }: TrailSearch): string =>
  `the ${before === undefined ? "newest" : "next"} 10,000`;

interface NoTrailMatchesProps {
  search: TrailSearch;
  /** Whose trails were searched: "this flow's". */
  whose: string;
  /** Whether there are older ones, which were not looked at. */
  isCut: boolean;
  onClear: () => void;
}

/** Says that none of the trails is as the filters say, as far as they were searched. */
export function NoTrailMatches({ search, whose, isCut, onClear }: NoTrailMatchesProps) {
  return (
    <NoMatch
      title="No trail matches"
      text={`None of ${isCut ? `${searchedWords(search)} of ` : ""}${whose} trails is as the filters say.`}
      onClear={onClear}
    />
  );
}

interface SearchedProps {
  search: TrailSearch;
  answer: { truncated?: boolean | undefined; searched_since?: number | null | undefined };
  onSearch: TrailFiltersProps["onSearch"];
}

/** Says how far a search went that had to stop, and goes on from there. */
export function SearchedUntil({ search, answer: { truncated, searched_since }, onSearch }: SearchedProps) {
  if (truncated !== true || searched_since === null || searched_since === undefined) return null;
  return (
    <Note>
      Only {searchedWords(search)} trails were searched; the oldest of them began <Time at={searched_since} />
      .{" "}
      <Button onClick={() => onSearch({ before: String(searched_since), since: undefined, page: undefined })}>
        Search older ones
      </Button>
    </Note>
  );
}
