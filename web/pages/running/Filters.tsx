import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback, useState } from "react";

import { runningTypes } from "../../domain/environment-types.ts";
import { environmentTypeWords } from "../../parts/environments.ts";
import { TagChoice } from "../../parts/TagChoice.tsx";
import { Button } from "../../ui/Button.tsx";
import { Choice, controlClass, FilterBar, SearchField } from "../../ui/Field.tsx";
import type { RunningSearch } from "./queries.ts";
import styles from "./Running.module.css";

const route = getRouteApi("/$org/running");

const typeChoices = runningTypes.map((type) => [type, environmentTypeWords[type]] as const);
const verdictChoices = [
  ["false", "Non-compliant"],
  ["true", "Compliant"],
  ["unknown", "Unknown"],
] as const;
const provenanceChoices = [
  ["none", "Unproven"],
  ["known", "Proven"],
] as const;
const allowChoices = [
  ["true", "Allowed"],
  ["false", "Not on it"],
] as const;

/** Filters that are typed in, and any of whose values will do. */
const named = [
  ["environment", "Environment"],
  ["flow", "Flow"],
  ["repo", "Repo"],
  ["tag", "Tag"],
  ["space_id", "Space"],
] as const;
type Named = (typeof named)[number][0];

/** Says whether the choice of tags shows what is filtered by: it holds one. */
const isInChoice = (name: Named, { tag }: RunningSearch): boolean => name === "tag" && tag?.length === 1;

/** What is filtered by, one by one; each can be taken away. */
function Chips() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const take = (change: RunningSearch): void =>
    void navigate({ search: (before) => ({ ...before, ...change, page: undefined }) });
  const chips = named.flatMap(([name, words]) =>
    (isInChoice(name, search) ? [] : (search[name] ?? [])).map((value) => ({
      words: `${words}: ${value}`,
      without: { [name]: search[name]?.filter((other) => other !== value) } satisfies RunningSearch,
    })),
  );
  if (search.fingerprint !== undefined)
    chips.push({ words: `Fingerprint: ${search.fingerprint}`, without: { fingerprint: undefined } });
  if (chips.length === 0) return null;
  return (
    <ul className={styles["chips"]} aria-label="Filters" data-no-print>
      {chips.map(({ words, without }) => (
        <li key={words}>
          <Button
            icon="close"
            title="Remove this filter"
            aria-label={`Remove ${words}`}
            onClick={() => take(without)}
          >
            {words}
          </Button>
        </li>
      ))}
    </ul>
  );
}

/** Adds a filter that has to be typed in. */
function AddFilter() {
  const navigate = route.useNavigate();
  const [kind, setKind] = useState<Named | "fingerprint">("environment");
  const [value, setValue] = useState("");
  const add = (): void => {
    const text = value.trim();
    if (text === "") return;
    setValue("");
    void navigate({
      search: (before) => ({
        ...before,
        page: undefined,
        ...(kind === "fingerprint"
          ? { fingerprint: text.toLowerCase() }
          : { [kind]: [...new Set([...(before[kind] ?? []), text])] }),
      }),
    });
  };
  return (
    <form
      className={styles["add"]}
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <select
        className={`${controlClass} ${styles["kind"]}`}
        aria-label="Filter by"
        value={kind}
        onChange={({ target }) =>
          setKind(named.find(([name]) => name === target.value)?.[0] ?? "fingerprint")
        }
      >
        {[...named, ["fingerprint", "Fingerprint"] as const].map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
      <input
        className={controlClass}
        aria-label={kind === "fingerprint" ? "At least 5 digits" : "Name"}
        placeholder={kind === "fingerprint" ? "at least 5 digits" : kind === "tag" ? "key:value" : "name"}
        value={value}
        onChange={({ target }) => setValue(target.value)}
      />
      <Button type="submit" icon="plus">
        Add
      </Button>
    </form>
  );
}

/** Chooses between a row for each artifact in each environment, and one for each artifact. */
function Arrangement() {
  const { org } = route.useParams();
  const search = route.useSearch();
  const { group, page: _page, ...rest } = search;
  return (
    <nav className={styles["arrangement"]} aria-label="Arrangement">
      <Link
        to="/$org/running"
        params={{ org }}
        search={rest}
        data-on={group === undefined}
        activeOptions={{ exact: true }}
      >
        List
      </Link>
      <Link
        to="/$org/running"
        params={{ org }}
        search={{ ...rest, group: "artifact" }}
        data-on={group === "artifact"}
        activeOptions={{ exact: true }}
      >
        By artifact
      </Link>
    </nav>
  );
}

/** What the list is filtered by. All of it stands in the address. */
export function Filters({ isReady }: { isReady: boolean }) {
  const { org } = route.useParams();
  const { name, type, tag, compliant, provenance, allow_listed } = route.useSearch();
  const navigate = route.useNavigate();
  const choose = (change: RunningSearch): void =>
    void navigate({ search: (before) => ({ ...before, ...change, page: undefined }) });
  const search = useCallback(
    (text: string) =>
      void navigate({
        search: (before) => ({ ...before, name: text === "" ? undefined : text, page: undefined }),
        replace: true,
      }),
    [navigate],
  );
  return (
    <>
      <FilterBar>
        <SearchField label="Filter by name" value={name ?? ""} onSearch={search} />
        <Choice
          label="Verdict"
          value={compliant}
          choices={verdictChoices}
          onChoose={(chosen) => choose({ compliant: chosen })}
        />
        <Choice
          label="Provenance"
          value={provenance}
          choices={provenanceChoices}
          onChoose={(chosen) => choose({ provenance: chosen })}
        />
        <TagChoice
          org={org}
          value={tag?.length === 1 ? tag[0] : undefined}
          isReady={isReady}
          onChoose={(chosen) => choose({ tag: chosen === undefined ? undefined : [chosen] })}
        />
        <Choice
          label="Type"
          value={type}
          choices={typeChoices}
          onChoose={(chosen) => choose({ type: chosen })}
        />
        <Choice
          label="Allow-list"
          value={allow_listed}
          choices={allowChoices}
          onChoose={(chosen) => choose({ allow_listed: chosen })}
        />
        <AddFilter />
        <Arrangement />
      </FilterBar>
      <Chips />
    </>
  );
}
