import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback } from "react";

import { environmentTypes } from "../../domain/environment-types.ts";
import { pathOfSpace, treeLines } from "../../domain/space-tree.ts";
import { environmentTypeWords } from "../../parts/environments.ts";
import { policiesQuery } from "../../parts/queries.ts";
import { spacesQuery } from "../../parts/spaces.ts";
import { TagChoice } from "../../parts/TagChoice.tsx";
import { Check, Choice, FilterBar, SearchField } from "../../ui/Field.tsx";
import { type EnvironmentsSearch } from "./queries.ts";

const route = getRouteApi("/$org/environments");

const stateChoices = [
  ["COMPLIANT", "Compliant"],
  ["NON-COMPLIANT", "Non-compliant"],
  ["UNKNOWN", "Unknown"],
  ["NEVER-REPORTED", "Never reported"],
] as const;
const typeChoices = environmentTypes.map((type) => [type, environmentTypeWords[type]] as const);

/** Changes what the address filters by; the list begins with its first page again. */
function useChoose(): (change: EnvironmentsSearch, replace?: boolean) => void {
  const navigate = route.useNavigate();
  return useCallback(
    (change, replace = false) =>
      void navigate({ search: (before) => ({ ...before, ...change, page: undefined }), replace }),
    [navigate],
  );
}

/** Adds what is chosen to what can be chosen, where it is not among that. */
function withChosen(
  choices: readonly (readonly [string, string])[],
  chosen: string | undefined,
): (readonly [string, string])[] {
  if (chosen === undefined || choices.some(([value]) => value === chosen)) return [...choices];
  return [[chosen, chosen], ...choices];
}

/** Filters whose choices are things of the organization: they are asked for once the list is there. */
function ChosenThings({ isReady }: { isReady: boolean }) {
  const { org } = route.useParams();
  const { tag, policy, space_id } = route.useSearch();
  const choose = useChoose();
  const { data: policies = [] } = useQuery({ ...policiesQuery(org), enabled: isReady });
  const { data: spaces = [] } = useQuery({ ...spacesQuery(org), enabled: isReady });
  const spaceChoices = treeLines(spaces).map(({ space: { id } }) => [id, pathOfSpace(spaces, id)] as const);
  return (
    <>
      <TagChoice org={org} value={tag} isReady={isReady} onChoose={(chosen) => choose({ tag: chosen })} />
      <Choice
        label="Policy"
        value={policy}
        choices={withChosen(
          policies.map(({ name }) => [name, name]),
          policy,
        )}
        onChoose={(chosen) => choose({ policy: chosen })}
      />
      <Choice
        label="Space"
        value={space_id}
        choices={withChosen(spaceChoices, space_id)}
        onChoose={(chosen) => choose({ space_id: chosen })}
      />
    </>
  );
}

/** Filters of the list of environments, all of which stand in its address. @param isReady whether the list is there. */
export function EnvironmentFilters({ isReady }: { isReady: boolean }) {
  const { name, state, type, stale, archived } = route.useSearch();
  const choose = useChoose();
  const search = useCallback(
    (text: string) => choose({ name: text === "" ? undefined : text }, true),
    [choose],
  );
  return (
    <FilterBar>
      <SearchField label="Filter by name" value={name ?? ""} onSearch={search} />
      <Choice
        label="State"
        value={state}
        choices={stateChoices}
        onChoose={(chosen) => choose({ state: chosen })}
      />
      <Choice
        label="Type"
        value={type}
        choices={typeChoices}
        onChoose={(chosen) => choose({ type: chosen })}
      />
      <ChosenThings isReady={isReady} />
      <Check
        checked={stale === true}
        onChange={(event) => choose({ stale: event.target.checked ? true : undefined })}
      >
        Silent
      </Check>
      <Check
        checked={archived === true}
        onChange={(event) => choose({ archived: event.target.checked ? true : undefined })}
      >
        Archived
      </Check>
    </FilterBar>
  );
}
