import { useQuery } from "@tanstack/react-query";

import { accountQuery, organizationsQuery, refusalTo } from "../api/account.ts";
import { basePath } from "../api/client.ts";
import { ask } from "../api/queries.ts";
import { pathOfPage } from "../domain/links.ts";
import { differencePath, readExpression } from "../domain/snapshot-names.ts";
import { environmentTypeWords } from "../parts/environments.ts";
import type { IconName } from "../ui/Icon.tsx";
import { useSettled } from "../ui/useSettled.ts";
import { deeds, furtherPages } from "./deeds.ts";
import { copyPermanentAddress, type KeyActions } from "./keys.ts";
import { navigation } from "./navigation.ts";
import { chooseTheme, themes, themeWords } from "./theme.ts";
import { readRemembered } from "./visits.ts";

/** Something that can be chosen: a page to open, or something to do. */
export interface Option {
  id: string;
  icon: IconName;
  words: string;
  context: string;
  /** Below the program's own path; or what is done. */
  leads: string | (() => void);
}

const kindIcons = {
  environment: "environments",
  flow: "flows",
  trail: "trails",
  artifact: "artifact",
  commit: "commit",
  repo: "repos",
  policy: "policies",
  control: "controls",
  attestation_type: "types",
  pull_request: "changes",
  ticket: "ticket",
} as const satisfies Record<string, IconName>;

/** How long to wait after the last key before asking, in milliseconds. */
const pauseMs = 120;

/** Says whether something looks like the beginning of a digest or a commit, or all of it. */
export function isDigest(words: string): boolean {
  return /^[\da-f]{5,64}$/i.test(words.trim());
}

/** Says of which type an environment is, as pages do. */
function typeWords(type: string): string {
  return Object.entries(environmentTypeWords).find(([known]) => known === type)?.[1] ?? type;
}

/** What was found. */
export interface Found {
  options: readonly Option[];
  /** The page of the one thing that a digest means; undefined for names, and where it means several. */
  meant: Option | undefined;
  /** Whether that is still what the words before led to. */
  isWaiting: boolean;
  /** Why nothing could be looked for; null where it could. */
  error: Error | null;
  retry: () => void;
}

/** Finds what the organization has under these words; the answer of the words before stays until it comes. */
export function useFound(org: string, words: string): Found {
  const typed = words.trim();
  const settled = useSettled(typed, pauseMs);
  // Nobody types a digest, so there is nothing to wait for.
  const q = isDigest(typed) ? typed : settled;
  const {
    data = [],
    isPlaceholderData,
    isPending,
    isLoadingError,
    error,
    refetch,
  } = useQuery({
    ...ask("GET /search/{org}", { params: { org }, query: { q, limit: 20 } }),
    enabled: q !== "",
  });
  const retry = (): void => void refetch();
  if (q === "" || typed === "")
    return { options: [], meant: undefined, isWaiting: q !== typed, error: null, retry };
  const found = data.flatMap(({ kind, name, context: said, matched, html_url }, index) => {
    const context = kind === "environment" ? typeWords(said) : said;
    const path = pathOfPage(html_url, basePath);
    const also = matched === name ? context : [context, matched].filter((text) => text !== "").join(" · ");
    return path === undefined
      ? []
      : [{ id: `found-${index}`, kind, icon: kindIcons[kind], words: name, context: also, leads: path }];
  });
  // What is called like a commit, as trails are, comes after the commit itself.
  const byDigest = found.filter(({ kind }) => isDigest(typed) && (kind === "commit" || kind === "artifact"));
  return {
    options: [...byDigest, ...found.filter((one) => !byDigest.includes(one))],
    meant: byDigest.length === 1 ? byDigest[0] : undefined,
    isWaiting: q !== typed || isPlaceholderData || isPending,
    error: isLoadingError ? error : null,
    retry,
  };
}

const inOrganization = (to: string, org: string): string => to.replace("$org", encodeURIComponent(org));

const pages = [...navigation.flatMap(({ entries }) => [...entries]), ...furtherPages];

function pagesLike(org: string, wanted: string): Option[] {
  return pages
    .filter(({ words }) => words.toLowerCase().includes(wanted))
    .map(({ to, words, icon }) => ({
      id: `page-${to}`,
      icon,
      words,
      context: "Page",
      leads: inOrganization(to, org),
    }));
}

/** An address of this server that was pasted, as something to choose. */
function pasted(words: string): Option[] {
  const address = words.trim();
  const path = address.startsWith(`${location.origin}${basePath}`)
    ? pathOfPage(address, basePath)
    : undefined;
  return path === undefined
    ? []
    : [{ id: "pasted", icon: "link", words: path, context: "Open", leads: path }];
}

/** A snapshot or a difference that was written as an expression, as something to choose. */
function expressed(org: string, words: string): Option[] {
  const expression = readExpression(words);
  if (expression === undefined) return [];
  const common = { id: "expression", words: words.trim() };
  if (expression.kind === "difference")
    return [
      {
        ...common,
        icon: "compare",
        context: "Compare",
        leads: differencePath(org, expression.from, expression.to),
      },
    ];
  const segments = [org, "environments", expression.env, "snapshots", expression.expression];
  return [
    {
      ...common,
      icon: "environments",
      context: "Snapshot",
      leads: `/${segments.map(encodeURIComponent).join("/")}`,
    },
  ];
}

function recent(): Option[] {
  return readRemembered().map(({ path, title }, index) => ({
    id: `recent-${index}`,
    icon: "clock",
    words: title,
    context: "Visited",
    leads: path,
  }));
}

/** Lists what the page's head offers to do, but for what needs something to be filled in there first. */
export function offeredByPage(): Option[] {
  const offered = document.querySelectorAll<HTMLElement>(
    'main [data-actions] :is(a[href], button):not([aria-disabled], [popovertarget], [type="submit"])',
  );
  return [...offered].map((element, index) => ({
    id: `here-${index}`,
    icon: element.tagName === "A" ? "link" : "actions",
    words: element.ariaLabel ?? element.innerText.trim(),
    context: "On this page",
    leads: () => element.click(),
  }));
}

/** Lists what can be done from anywhere: what the contract lets the caller begin, and what is theirs alone. */
export function useDeeds(org: string, { openHelp, say }: KeyActions): Option[] {
  const { data: account } = useQuery(accountQuery);
  const { data: organizations } = useQuery(organizationsQuery);
  const role = organizations?.find(({ name }) => name === org)?.role;
  const allowed = deeds
    .filter(({ operation }) => account !== null && refusalTo(account, role, operation) === undefined)
    .map(({ to, words, icon }) => ({
      id: `deed-${words}`,
      icon,
      words,
      context: "Action",
      leads: inOrganization(to, org),
    }));
  const own = (words: string, icon: IconName, leads: () => void): Option => ({
    id: `own-${words}`,
    icon,
    words,
    context: "Action",
    leads,
  });
  return [
    ...allowed,
    own("Copy the permanent address", "link", () => void copyPermanentAddress(say)),
    ...themes.map((theme) => own(themeWords[theme], "settings", () => chooseTheme(theme))),
    own("Keys", "info", openHelp),
  ];
}

interface Choices {
  org: string;
  words: string;
  found: readonly Option[];
  /** Of the page, and from anywhere. */
  actions: readonly Option[];
  /** Whether only actions are wanted. */
  isForActions: boolean;
}

/** Lists what can be chosen, what is meant most likely first. */
export function optionsOf({ org, words, found, actions, isForActions }: Choices): Option[] {
  const wanted = words.trim().toLowerCase();
  const fitting = actions.filter((action) => action.words.toLowerCase().includes(wanted));
  if (isForActions) return fitting;
  if (wanted === "") return [...recent(), ...pagesLike(org, ""), ...fitting];
  return [...pasted(words), ...expressed(org, words), ...found, ...pagesLike(org, wanted), ...fitting];
}
