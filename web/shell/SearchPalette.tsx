import { useRouter } from "@tanstack/react-router";
import { type KeyboardEvent, useDeferredValue, useEffect, useId, useRef, useState } from "react";

import { ErrorNote } from "../ui/ErrorNote.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Modal } from "../ui/Modal.tsx";
import type { KeyActions } from "./keys.ts";
import {
  type Found,
  isDigest,
  offeredByPage,
  type Option,
  optionsOf,
  useDeeds,
  useFound,
} from "./options.ts";
import styles from "./Search.module.css";

interface OptionLineProps {
  option: Option;
  id: string;
  isChosen: boolean;
  onPoint: () => void;
  onGo: () => void;
}

function OptionLine({ option, id, isChosen, onPoint, onGo }: OptionLineProps) {
  return (
    // Keys are the field's, which has the focus and says which option is chosen.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
    <div
      role="option"
      id={id}
      aria-selected={isChosen}
      className={styles["option"]}
      onPointerMove={onPoint}
      onClick={onGo}
      ref={(line) => {
        if (isChosen) line?.scrollIntoView({ block: "nearest" });
      }}
    >
      <Icon name={option.icon} />
      <span>{option.words}</span>
      <span className={styles["context"]}>{option.context}</span>
    </div>
  );
}

interface SearchFieldProps {
  /** Id of the list of options. */
  list: string;
  /** Id of the chosen option. */
  active: string | undefined;
  words: string;
  label: string;
  hint: string;
  onWords: (words: string) => void;
  /** Says whether it took what was pasted. */
  onPaste: (words: string) => boolean;
  onMove: (by: 1 | -1) => void;
  onGo: () => void;
}

function SearchField({ list, active, words, label, hint, onWords, onPaste, onMove, onGo }: SearchFieldProps) {
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => onMove(1),
    ArrowUp: () => onMove(-1),
    Enter: onGo,
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (keys[event.key] !== undefined) event.preventDefault();
    keys[event.key]?.();
  };
  return (
    <div className={styles["field"]}>
      <Icon name="search" />
      <input
        type="text"
        role="combobox"
        aria-label={label}
        aria-expanded
        aria-controls={list}
        aria-activedescendant={active}
        autoComplete="off"
        spellCheck={false}
        placeholder={hint}
        value={words}
        onChange={(event) => onWords(event.target.value)}
        onPaste={(event) => {
          if (onPaste(event.clipboardData.getData("text/plain"))) event.preventDefault();
        }}
        onKeyDown={onKeyDown}
      />
    </div>
  );
}

/** Keeps what is waited for: the first of what is found, or the only one. @returns what says that something is. */
function useGoingLater(
  { meant, isWaiting }: Pick<Found, "meant" | "isWaiting">,
  first: Option | undefined,
  go: (option: Option | undefined) => void,
) {
  const goes = useRef<"first" | "only">(undefined);
  useEffect(() => {
    if (goes.current === undefined || isWaiting) return;
    if (goes.current === "first") go(first);
    else go(meant);
    goes.current = undefined;
  });
  return (what: typeof goes.current): void => {
    goes.current = what;
  };
}

interface SearchPaletteProps {
  org: string;
  /** Words to begin with. */
  given: string;
  /** Whether it is about what can be done here, not about what there is. */
  isForActions: boolean;
  keys: KeyActions;
  onClose: () => void;
}

/** What the palette shows, and what its keys do. */
function usePalette({ org, given, isForActions, keys, onClose }: SearchPaletteProps) {
  const router = useRouter();
  const [words, setWords] = useState(given);
  const [chosen, setChosen] = useState(0);
  const [here] = useState(offeredByPage);
  const anywhere = useDeeds(org, keys);
  const found = useFound(org, isForActions ? "" : words);
  const listed = useDeferredValue(words);
  const options = optionsOf({
    org,
    words: listed,
    found: found.options,
    actions: [...here, ...anywhere],
    isForActions,
  });
  const at = Math.max(0, Math.min(chosen, options.length - 1));
  const go = (option: Option | undefined): void => {
    if (option === undefined) return;
    onClose();
    if (typeof option.leads === "string") void router.navigate({ href: option.leads });
    else option.leads();
  };
  // Enter means what is typed, of which the list may be a moment behind.
  const isWaiting = found.isWaiting || listed !== words;
  const goLater = useGoingLater({ meant: found.meant, isWaiting }, options[at], go);
  const change = (text: string): void => {
    setWords(text);
    setChosen(0);
    goLater(undefined);
  };
  const paste = (text: string): boolean => {
    const isTaken = isDigest(text) && words === "" && !isForActions;
    if (isTaken) {
      change(text.trim());
      goLater("only");
    }
    return isTaken;
  };
  const move = (by: 1 | -1): void => setChosen((at + by + options.length) % Math.max(1, options.length));
  const enter = (): void => {
    if (isWaiting && at === 0) goLater("first");
    else go(options[at]);
  };
  return { words, options, at, found, setChosen, go, change, paste, move, enter };
}

/**
 * The search over everything: by name, digest, commit, expression or address; and what can be done. Arrow keys choose, Enter
 * opens. A digest that is pasted and means one thing opens it.
 */
export function SearchPalette(props: SearchPaletteProps) {
  const { isForActions, onClose } = props;
  const id = useId();
  const { words, options, at, found, setChosen, go, change, paste, move, enter } = usePalette(props);
  const current = options[at];
  return (
    <Modal
      className={styles["dialog"]}
      label={isForActions ? "What can be done here" : "Search"}
      onClose={onClose}
    >
      <SearchField
        list={`${id}-list`}
        active={current && `${id}-${current.id}`}
        words={words}
        label={isForActions ? "Action" : "Search"}
        hint={isForActions ? "What can be done here…" : "Search names, digests, commits, pull requests…"}
        onWords={change}
        onPaste={paste}
        onMove={move}
        onGo={enter}
      />
      <div role="listbox" id={`${id}-list`} aria-label="Results" className={styles["list"]}>
        {options.map((option, index) => (
          <OptionLine
            key={option.id}
            option={option}
            id={`${id}-${option.id}`}
            isChosen={index === at}
            onPoint={() => setChosen(index)}
            onGo={() => go(option)}
          />
        ))}
      </div>
      {found.error !== null ? (
        <div className={styles["nothing"]}>
          <ErrorNote failure={found.error} retry={found.retry} what="The search failed" />
        </div>
      ) : options.length === 0 && !found.isWaiting ? (
        <p className={styles["nothing"]}>Nothing is called like that.</p>
      ) : null}
    </Modal>
  );
}
