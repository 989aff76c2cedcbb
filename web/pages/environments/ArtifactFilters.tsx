import { useCallback } from "react";

import { numberWords } from "../../domain/numbers.ts";
import {
  type Provenance,
  type RowChange,
  rowChangeNames,
  type RowCounts,
  type RowVerdict,
  rowVerdicts,
} from "../../domain/snapshot-rows.ts";
import { verdictWords } from "../../domain/verdict.ts";
import { Choice, FilterBar, SearchField } from "../../ui/Field.tsx";
import type { SnapshotSearch } from "./queries.ts";

const provenanceWords = [
  ["known", "Proven"],
  ["none", "Unproven"],
] as const satisfies readonly (readonly [Provenance, string])[];
const changeWords: Readonly<Record<RowChange, string>> = {
  started: "Started",
  verdict: "Verdict changed",
  changed: "Changed otherwise",
  unchanged: "Unchanged",
};

interface FiltersProps {
  /** Undefined until it is known; a verdict that is not counted cannot be chosen. */
  counts: RowCounts | undefined;
  /** What is searched by text. */
  searched: string;
  search: SnapshotSearch;
  onSearch: (change: SnapshotSearch, replace?: boolean) => void;
  onType?: (text: string) => void;
}

/** Chooses among the artifacts of a snapshot. */
export function ArtifactFilters({ counts, searched, search, onSearch, onType }: FiltersProps) {
  const filter = useCallback(
    (q: string) => onSearch({ q: q === "" ? undefined : q, page: undefined }, true),
    [onSearch],
  );
  const words = (name: string, count: number | undefined): string =>
    count === undefined ? name : `${name} (${numberWords(count)})`;
  const verdicts = rowVerdicts.filter(
    (verdict) => counts === undefined || counts.verdict[verdict] !== undefined,
  );
  return (
    <FilterBar>
      <SearchField label={searched} value={search.q ?? ""} onSearch={filter} onType={onType} />
      <Choice<RowVerdict>
        label="Verdict"
        value={search.verdict}
        choices={verdicts.map((one) => [one, words(verdictWords[one], counts?.verdict[one])])}
        onChoose={(verdict) => onSearch({ verdict, page: undefined })}
      />
      <Choice<Provenance>
        label="Provenance"
        value={search.provenance}
        choices={provenanceWords.map(([one, name]) => [one, words(name, counts?.provenance[one])])}
        onChoose={(provenance) => onSearch({ provenance, page: undefined })}
      />
      <Choice<RowChange>
        label="Change"
        value={search.change}
        choices={rowChangeNames.map((one) => [one, words(changeWords[one], counts?.change[one])])}
        onChoose={(change) => onSearch({ change, page: undefined })}
      />
    </FilterBar>
  );
}
