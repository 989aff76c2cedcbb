import { useEffect, useEffectEvent, useState } from "react";

import type { Action } from "../api/action.ts";
import { useProviderOnly } from "../api/account.ts";
import type { AnswerOf, InputOf, WriteAddress } from "../api/contract.ts";
import { ApiError } from "../api/errors.ts";
import {
  addressesOf,
  differentRules,
  type RuleDraft,
  ruleDraft,
  ruleLimits,
  rulesOfDraft,
} from "../domain/security-rules.ts";
import { daySeconds } from "../domain/times.ts";
import { Check, Field } from "../ui/Field.tsx";
import { Card, Quiet, Stack } from "../ui/Layout.tsx";
import { Note } from "../ui/Note.tsx";
import { type Column, Table } from "../ui/Table.tsx";
import { Time, useNow } from "../ui/Time.tsx";
import { wrongField } from "./ActionDialog.tsx";
import { ChangedMeanwhile } from "./ChangedMeanwhile.tsx";
import styles from "./SecurityRules.module.css";
import { WriteForm } from "./WriteForm.tsx";

type Rules = AnswerOf<"GET /instance/security">;
type EndingKey = Rules["ending_keys"][number];

/** What is said of rules, by whose they are. */
interface RuleWords {
  /** What becomes of a personal key that is too old. */
  oldPersonalKey: string;
  /** What stands in place of keys that end, when there is none. */
  noEndingKey: string;
}

const graceDays = 30;

interface DaysProps {
  label: string;
  hint: string;
  value: string;
  wrong: string | undefined;
  placeholder?: string;
  isRequired?: boolean;
  most?: number;
  onChange: (days: string) => void;
}

/** A number of days, or nothing for no rule. */
function Days({
  label,
  hint,
  value,
  wrong,
  placeholder,
  isRequired,
  most = ruleLimits.mostDays,
  onChange,
}: DaysProps) {
  return (
    <Field label={label} hint={hint} wrong={wrong}>
      {(tie) => (
        <input
          {...tie}
          type="number"
          inputMode="numeric"
          min={1}
          max={most}
          required={isRequired === true}
          placeholder={placeholder ?? "no limit"}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

interface PartProps {
  words: RuleWords;
  draft: RuleDraft;
  error: Error | null;
  change: (part: Partial<RuleDraft>) => void;
}

function KeyRules({ words, draft, error, change }: PartProps) {
  return (
    <fieldset className={styles["rules"]}>
      <legend>Keys</legend>
      <div className={styles["pair"]}>
        <Days
          label="Oldest service account key, in days"
          hint="Counted from when it was made or rotated."
          value={draft.service}
          wrong={wrongField(error, "max_key_age_days.service")}
          onChange={(service) => change({ service })}
        />
        <Days
          label="Oldest personal key, in days"
          hint={words.oldPersonalKey}
          value={draft.personal}
          wrong={wrongField(error, "max_key_age_days.personal")}
          onChange={(personal) => change({ personal })}
        />
        <Days
          label="End keys not used for, in days"
          hint="Their owners are told before."
          value={draft.unused}
          wrong={wrongField(error, "unused_days")}
          onChange={(unused) => change({ unused })}
        />
        <Days
          label="Tell owners before an end, in days"
          hint="And again 3 days and a day before."
          value={draft.warn}
          wrong={wrongField(error, "warn_days")}
          placeholder={String(ruleLimits.usualWarning)}
          isRequired
          most={ruleLimits.mostWarning}
          onChange={(warn) => change({ warn })}
        />
      </div>
      <Check
        checked={draft.requireExpiry}
        onChange={(event) => change({ requireExpiry: event.target.checked })}
      >
        Keys must have an end
      </Check>
    </fieldset>
  );
}

function AccessRules({ draft, error, change }: PartProps) {
  const isProviderOnly = useProviderOnly() === true;
  const wrong = error === null ? undefined : addressesOf(error, wrongField);
  return (
    <fieldset className={styles["rules"]}>
      <legend>Callers</legend>
      <Field
        label="Addresses they come from"
        hint="A network or address a line, as 10.0.0.0/8 or 2001:db8::/32, your own among them. Empty: from anywhere."
        wrong={wrong}
      >
        {(tie) => (
          <textarea
            {...tie}
            rows={4}
            spellCheck={false}
            placeholder="from anywhere"
            value={draft.addresses}
            onChange={(event) => change({ addresses: event.target.value })}
          />
        )}
      </Field>
      <Check checked={draft.ssoOnly} onChange={(event) => change({ ssoOnly: event.target.checked })}>
        People sign in at the sign-in provider, not with keys
      </Check>
      {isProviderOnly ? (
        <Quiet isSmall>
          The settings of this server ask that of everybody anyway: nobody opens these pages with a key.
        </Quiet>
      ) : null}
      {wrongField(error, "sso_only") === undefined ? null : (
        <Note kind="bad">{wrongField(error, "sso_only")}</Note>
      )}
    </fieldset>
  );
}

/** What is sent: rules, and the version of those they are to take the place of. */
type SentRules = ReturnType<typeof rulesOfDraft> & { version: string };

interface RulesFormProps<A extends WriteAddress> {
  rules: Rules;
  words: RuleWords;
  /** Sets the rules. */
  save: Action<A>;
  /** What was set here last. */
  saved: Rules | undefined;
  /** Reads the rules again. */
  reread: () => void;
  /** Says what is sent for rules like these. */
  inputOf: (rules: SentRules) => InputOf<A>;
  /** Why they cannot be set. */
  refused: string | undefined;
}

/** Lists what somebody else has made of rules. */
function Changed({ before, now }: { before: Rules; now: Rules }) {
  return (
    <ul className={styles["changed"]}>
      {differentRules(before, now).map(({ label, value }) => (
        <li key={label}>
          {label}: <strong>{value}</strong>
        </li>
      ))}
    </ul>
  );
}

/**
 * What stands in the fields, and the rules that it was made of, which others may have changed since.
 * @param isSent says whether a draft made of rules was sent as it is.
 */
function useDraft(
  rules: Rules,
  saved: Rules | undefined,
  isSaving: boolean,
  isSent: (draft: RuleDraft, read: Rules) => boolean,
) {
  const [draft, setDraft] = useState(() => ruleDraft(rules));
  const [read, setRead] = useState(rules);
  const [known, setKnown] = useState(saved);
  const take = (now: Rules): void => {
    setRead(now);
    setDraft(ruleDraft(now));
  };
  if (saved !== known) {
    setKnown(saved);
    // What is kept may be written otherwise: an address as a network. What was written meanwhile stays.
    if (saved !== undefined && isSent(draft, read)) take(saved);
    else if (saved !== undefined) setRead(saved);
  }
  const isOther = !isSaving && saved === known && rules.version !== read.version;
  const isUntouched = JSON.stringify(draft) === JSON.stringify(ruleDraft(read));
  // Nothing that was written here is lost.
  if (isOther && isUntouched) take(rules);
  return { draft, setDraft, read, setRead, take, isUntouched, isOther: isOther && !isUntouched };
}

const isOvertaken = (error: Error | null): boolean =>
  error instanceof ApiError && error.reason === "changed_meanwhile";

function RulesForm<A extends WriteAddress>(props: RulesFormProps<A>) {
  const { rules, words, save, saved, reread, inputOf, refused } = props;
  const inputFor = (written: RuleDraft, { version }: Rules): InputOf<A> =>
    inputOf({ ...rulesOfDraft(written), version });
  const { draft, setDraft, read, setRead, take, isUntouched, isOther } = useDraft(
    rules,
    saved,
    save.isPending,
    (...written) => JSON.stringify(inputFor(...written)) === JSON.stringify(save.variables),
  );
  const lookAgain = useEffectEvent(reread);
  useEffect(() => {
    if (isOvertaken(save.error)) lookAgain();
  }, [save.error]);
  const change = (part: Partial<RuleDraft>): void => {
    save.reset();
    setDraft((before) => ({ ...before, ...part }));
  };
  const parts = { words, draft, error: save.error, change };
  return (
    <WriteForm
      action={save}
      input={inputFor(draft, read)}
      submit="Save"
      isPrimary
      refused={refused}
      isChanged={() => !isUntouched}
    >
      <KeyRules {...parts} />
      <AccessRules {...parts} />
      <Note>
        Where ages or ends become stricter, keys that break the rule work for {graceDays} days more. Addresses
        and sign-in count at once.
      </Note>
      {isOther ? (
        <ChangedMeanwhile
          says="Somebody else has changed these rules since you read them. By now:"
          take={() => {
            save.reset();
            take(rules);
          }}
          keep={() => {
            save.reset();
            setRead(rules);
          }}
        >
          <Changed before={read} now={rules} />
        </ChangedMeanwhile>
      ) : null}
    </WriteForm>
  );
}

const columns: Column<EndingKey>[] = [
  {
    key: "description",
    head: "For",
    cell: ({ description, owner, owner_kind, last_used_at }) => (
      <>
        <strong>{description}</strong>
        <div>
          <Quiet isSmall>
            {owner_kind === "user" ? "personal key of " : ""}
            {owner}
          </Quiet>
        </div>
        <div>
          <Quiet isSmall>
            used <Time at={last_used_at} />
          </Quiet>
        </div>
      </>
    ),
  },
  {
    key: "ends",
    head: "Ends",
    cell: ({ ends_at, by_rules }) => (
      <>
        <Time at={ends_at} mayBeAhead />
        {by_rules ? (
          <div>
            <Quiet isSmall>by these rules</Quiet>
          </div>
        ) : null}
      </>
    ),
  },
];

/** Says until when keys have time that were made before a rule became stricter. */
function Grace({ tightenedAt }: { tightenedAt: number | null }) {
  const now = useNow();
  if (tightenedAt === null) return null;
  const end = tightenedAt + graceDays * daySeconds;
  if (end <= now) return null;
  return (
    <Note kind="warn">
      The rules became stricter <Time at={tightenedAt} />: what worked then and is too old works until{" "}
      <Time at={end} exact /> at least. Rotate such keys, or make others.
    </Note>
  );
}

function EndingKeys({ rules, words }: { rules: Rules; words: RuleWords }) {
  return (
    <Card title={`Keys that end within ${graceDays} days`}>
      {rules.ending_keys.length === 0 ? (
        <p className={styles["none"]}>
          <Quiet>{words.noEndingKey}</Quiet>
        </p>
      ) : (
        <Table
          label="Keys that end soon"
          columns={columns}
          rows={rules.ending_keys}
          rowKey={({ id }) => id}
        />
      )}
    </Card>
  );
}

/** Rules for keys and for those who call, to be read and set, and which keys they end soon. */
export function SecurityRules<A extends WriteAddress>(props: RulesFormProps<A>) {
  const { rules, words } = props;
  return (
    <div className={styles["security"]}>
      <RulesForm {...props} />
      <Stack>
        <Grace tightenedAt={rules.tightened_at} />
        <EndingKeys rules={rules} words={words} />
      </Stack>
    </div>
  );
}
