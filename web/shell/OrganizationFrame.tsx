import { getRouteApi, Link, Outlet } from "@tanstack/react-router";
import { lazy, useCallback, useMemo, useState } from "react";

import icon from "../icon.svg";
import { SearchProvider } from "../parts/search.ts";
import { Button } from "../ui/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { AccountMenu } from "./AccountMenu.tsx";
import styles from "./Frame.module.css";
import { type KeyActions, useKeys } from "./keys.ts";
import { LatePart } from "./LatePart.tsx";
import { LiveMark } from "./LiveMark.tsx";
import { Navigation } from "./Navigation.tsx";
import { OrganizationSwitch } from "./OrganizationSwitch.tsx";
import { useSaying } from "./saying.ts";
import { EarlySearch } from "./EarlySearch.tsx";
import { useRememberVisits } from "./visits.ts";

// What a page does not begin with comes after it.
const KeysHelp = lazy(async () => ({ default: (await import("./KeysHelp.tsx")).KeysHelp }));
const PrintHead = lazy(async () => ({ default: (await import("./PrintHead.tsx")).PrintHead }));

const route = getRouteApi("/$org");

function Brand() {
  return (
    <Link to="/" className={styles["brand"]}>
      <img src={icon} alt="" />
      Waybill
    </Link>
  );
}

interface SideProps {
  org: string;
  /** Whether it is seen on narrow screens. */
  isOpen: boolean;
  onGo: () => void;
  onSearch: () => void;
}

function Side({ org, isOpen, onGo, onSearch }: SideProps) {
  return (
    <div className={styles["side"]} data-open={isOpen} data-no-print>
      <Brand />
      <OrganizationSwitch org={org} />
      <button type="button" className={styles["find"]} onClick={onSearch}>
        <Icon name="search" size={14} />
        Search
        <kbd>/</kbd>
      </button>
      <Navigation org={org} onGo={onGo} />
      <div className={styles["end"]}>
        <LiveMark org={org} />
        <AccountMenu org={org} />
      </div>
    </div>
  );
}

interface OverProps {
  org: string;
  over: "search" | "actions" | "keys" | undefined;
  /** Words to begin the search with. */
  given: string;
  keys: KeyActions;
  onClose: () => void;
}

/** What stands over the page: search, what can be done, or the list of keys. */
function Over({ org, over, given, keys, onClose }: OverProps) {
  if (over === undefined) return null;
  return (
    <LatePart key={over} onClose={onClose}>
      {over === "keys" ? (
        <KeysHelp onClose={onClose} />
      ) : (
        <EarlySearch
          org={org}
          given={given}
          isForActions={over === "actions"}
          keys={keys}
          onClose={onClose}
        />
      )}
    </LatePart>
  );
}

/** Opens what stands over the page, by keys as well. */
function useOver(org: string) {
  const [{ over, given }, setOver] = useState<Pick<OverProps, "over" | "given">>({
    over: undefined,
    given: "",
  });
  const [said, say] = useSaying();
  const searchFor = useCallback((words = "") => setOver({ over: "search", given: words }), []);
  const keys = useMemo(
    () => ({
      openSearch: () => searchFor(),
      openActions: () => setOver({ over: "actions", given: "" }),
      openHelp: () => setOver({ over: "keys", given: "" }),
      say,
    }),
    [searchFor, say],
  );
  useKeys(org, keys);
  return { over, given, said, keys, searchFor, close: () => setOver({ over: undefined, given: "" }) };
}

/** The frame of an organization's pages: navigation beside them, or behind a button on narrow screens. */
export function OrganizationFrame() {
  const { org } = route.useParams();
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  const { over, given, said, keys, searchFor, close: closeOver } = useOver(org);
  const { openSearch } = keys;
  useRememberVisits();
  return (
    <div className={styles["frame"]}>
      <a href="#content" className={styles["skip"]} data-no-print>
        Skip to the content
      </a>
      <header className={styles["top"]} data-no-print>
        <Button
          look="quiet"
          icon="menu"
          aria-label="Menu"
          aria-expanded={isOpen}
          onClick={() => setOpen(true)}
        />
        <Brand />
        <Button look="quiet" icon="search" aria-label="Search" onClick={openSearch} />
      </header>
      {isOpen ? (
        <button type="button" className={styles["veil"]} aria-label="Close the menu" onClick={close} />
      ) : null}
      <Side org={org} isOpen={isOpen} onGo={close} onSearch={openSearch} />
      <main id="content" className={styles["main"]} tabIndex={-1}>
        <LatePart>
          <PrintHead org={org} />
        </LatePart>
        <SearchProvider value={searchFor}>
          {/* The same page of another organization begins anew: what was done or asked in one is not to be undone or answered in the other. */}
          <Outlet key={org} />
        </SearchProvider>
      </main>
      <Over org={org} over={over} given={given} keys={keys} onClose={closeOver} />
      <output className={styles["said"]} data-no-print>
        {said}
      </output>
    </div>
  );
}
