import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type FormEvent, type RefObject, useId, useRef, useState } from "react";

import { presetsFor, readSnapshotName } from "../../domain/snapshot-names.ts";
import { environmentNamesQuery } from "../../parts/queries.ts";
import { Button } from "../../ui/Button.tsx";
import { controlClass } from "../../ui/Field.tsx";
import styles from "./Compare.module.css";
import { differenceQuery } from "./queries.ts";

const route = getRouteApi("/$org/diff");

interface NameFieldProps {
  field?: RefObject<HTMLInputElement | null>;
  label: string;
  /** A name as it may be written there. */
  example: string;
  value: string;
  onChange: (value: string) => void;
}

/** Names that may be meant, once the field is used. */
function useNames(typed: string, isUsed: boolean): string[] {
  const { org } = route.useParams();
  const { data } = useQuery({ ...environmentNamesQuery(org, readSnapshotName(typed).env), enabled: isUsed });
  return data === undefined || Array.isArray(data) ? [] : data.environments.map(({ name }) => name);
}

function NameField({ field, label, example, value, onChange }: NameFieldProps) {
  const id = useId();
  const [isUsed, setUsed] = useState(false);
  const names = useNames(value, isUsed);
  return (
    <label className={styles["field"]}>
      <span>{label}</span>
      <input
        ref={field}
        className={controlClass}
        required
        spellCheck={false}
        autoCapitalize="off"
        placeholder={example}
        list={id}
        onFocus={() => setUsed(true)}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id={id}>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </datalist>
    </label>
  );
}

/** What one usually wants to compare with, in one step. */
function Presets({ from, to, onOther }: { from: string; to: string; onOther: () => void }) {
  const { org } = route.useParams();
  const { data } = useQuery({ ...differenceQuery(org, from, to), enabled: from !== "" && to !== "" });
  return (
    <span className={styles["presets"]}>
      After, against
      {presetsFor(to, data?.snappish2 ?? {}).map((preset) => (
        <Link key={preset.words} to="/$org/diff" params={{ org }} search={{ from: preset.from, to }}>
          {preset.words.toLowerCase()}
        </Link>
      ))}
      <button type="button" className={styles["preset"]} onClick={onOther}>
        another environment
      </button>
      <Link to="/$org/diff" params={{ org }} search={{ from: to, to: from }}>
        the other way round
      </Link>
    </span>
  );
}

/** Asks which two snapshots to compare. */
export function CompareForm() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [from, setFrom] = useState(search.from ?? "");
  const [to, setTo] = useState(search.to ?? "");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void navigate({ search: { from: from.trim(), to: to.trim() } });
  };
  const before = useRef<HTMLInputElement>(null);
  const chooseOther = (): void => {
    setFrom("");
    before.current?.focus();
  };
  return (
    <form className={styles["form"]} onSubmit={submit} data-no-print>
      <NameField field={before} label="Before" example="prod~1" value={from} onChange={setFrom} />
      <NameField label="After" example="prod" value={to} onChange={setTo} />
      <Button type="submit" look="primary">
        Compare
      </Button>
      {search.from === undefined || search.to === undefined ? null : (
        <Presets from={search.from} to={search.to} onOther={chooseOther} />
      )}
    </form>
  );
}
