import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { useAction } from "../../api/action.ts";
import { endChoices, type EndRules, type KeyEnd, sentEnd, usualEnd } from "../../domain/key-ends.ts";
import { exactTime } from "../../domain/times.ts";
import { ActionDialog, wrongField } from "../../parts/ActionDialog.tsx";
import { type ApiKey, ApiKeys, MakeKey, NewKey, type NewKeyInput } from "../../parts/ApiKeys.tsx";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { ShownOnce } from "../../parts/ShownOnce.tsx";
import { Button } from "../../ui/Button.tsx";
import { ChoiceField } from "../../ui/Field.tsx";
import { Quiet } from "../../ui/Layout.tsx";
import { Time, useNow } from "../../ui/Time.tsx";
import { accountKeysQuery, securityQuery } from "./queries.ts";
import styles from "./Settings.module.css";

interface OfAccount {
  org: string;
  name: string;
}

interface OfKey extends OfAccount {
  apiKey: ApiKey;
  onClose: () => void;
}

/** How long the former secret may work beside the new one, in hours. */
const graces = [
  [1, "an hour"],
  [24, "a day"],
  [168, "a week"],
  [720, "30 days"],
] as const;

/** Says what rules ask of the ends of keys, as far as the caller may know them. */
function useEndRules(org: string): EndRules {
  const isRefused = useRefusal(org, "GET /organizations/{org}/security") !== undefined;
  const { data } = useQuery({ ...securityQuery(org), enabled: !isRefused });
  return {
    require_expiry: data?.require_expiry ?? false,
    most_days: data?.max_key_age_days.service ?? null,
  };
}

/** Gives a key another secret, and shows it. */
function Rotate({ org, name, apiKey, onClose }: OfKey) {
  const [grace_period_hours, setGrace] = useState<number>(24);
  const [chosen, setEnd] = useState<KeyEnd>();
  const rules = useEndRules(org);
  const now = useNow();
  const end = chosen ?? usualEnd(apiKey, rules);
  const body = {
    grace_period_hours,
    ...(end === "kept" ? {} : { expires_at: sentEnd(end, rules, now) }),
  };
  const choices = endChoices(apiKey, rules, (at) => exactTime(at).slice(0, 16));
  const rotate = useAction("POST /service-accounts/{org}/{name}/api-keys/{key_id}/rotate");
  if (rotate.data !== undefined)
    return (
      <ShownOnce title="The new secret" label="API key" value={rotate.data.key} onClose={onClose}>
        <p>
          The former one works until <Time at={rotate.data.grace_period_expires_at} exact />.
        </p>
      </ShownOnce>
    );
  return (
    <ActionDialog
      title={`Rotate “${apiKey.description}”`}
      submit="Rotate the key"
      action={rotate}
      input={{ params: { org, name, key_id: apiKey.id }, body }}
      onClose={onClose}
    >
      <ChoiceField
        label="The former secret works for another"
        hint="So that whoever uses it has time to change."
        choices={graces}
        chosen={grace_period_hours}
        onChoose={setGrace}
      />
      <ChoiceField
        label="The key works"
        wrong={wrongField(rotate.error, "expires_at")}
        choices={choices}
        chosen={end}
        onChoose={(choice) => {
          rotate.reset();
          setEnd(choice);
        }}
      />
    </ActionDialog>
  );
}

/** Ends a key with all its secrets. */
function Revoke({ org, name, apiKey, onClose }: OfKey) {
  const revoke = useAction("DELETE /service-accounts/{org}/{name}/api-keys/{key_id}", onClose);
  return (
    <ActionDialog
      title={`Revoke “${apiKey.description}”?`}
      submit="Revoke the key"
      isDanger
      action={revoke}
      input={{ params: { org, name, key_id: apiKey.id } }}
      onClose={onClose}
    >
      <p>Whatever uses it is refused from now on.</p>
    </ActionDialog>
  );
}

function NewAccountKey({ org, name, onClose }: OfAccount & { onClose: () => void }) {
  const make = useAction("POST /service-accounts/{org}/{name}/api-keys");
  const rules = useEndRules(org);
  if (make.data !== undefined) return <NewKey value={make.data.key} onClose={onClose} />;
  const inputOf = (body: NewKeyInput) => ({ params: { org, name }, body });
  return <MakeKey action={make} rules={rules} inputOf={inputOf} onClose={onClose} />;
}

type Asked = { what: "make" } | { what: "rotate" | "revoke"; apiKey: ApiKey };

/** The keys of a service account: made and rotated here, shown once, revoked here. */
export function AccountKeys({ org, name }: OfAccount) {
  const query = useQuery(accountKeysQuery(org, name));
  const [asked, setAsked] = useState<Asked>();
  const close = (): void => setAsked(undefined);
  if (query.error !== null && query.data === undefined)
    return <FailedToRead error={query.error} retry={() => void query.refetch()} />;
  return (
    <div className={styles["keys"]}>
      <div className={styles["sectionHead"]}>
        <h2>Keys of {name}</h2>
        <Button icon="plus" onClick={() => setAsked({ what: "make" })}>
          New key
        </Button>
      </div>
      {query.data?.length === 0 ? (
        <Quiet>It has no key, so nothing can use it yet.</Quiet>
      ) : (
        <ApiKeys
          keys={query.data}
          actions={(apiKey) => (
            <span className={styles["buttons"]}>
              <Button onClick={() => setAsked({ what: "rotate", apiKey })}>Rotate</Button>
              <Button look="danger" onClick={() => setAsked({ what: "revoke", apiKey })}>
                Revoke
              </Button>
            </span>
          )}
        />
      )}
      {asked?.what === "make" ? <NewAccountKey org={org} name={name} onClose={close} /> : null}
      {asked?.what === "rotate" ? (
        <Rotate org={org} name={name} apiKey={asked.apiKey} onClose={close} />
      ) : null}
      {asked?.what === "revoke" ? (
        <Revoke org={org} name={name} apiKey={asked.apiKey} onClose={close} />
      ) : null}
    </div>
  );
}
