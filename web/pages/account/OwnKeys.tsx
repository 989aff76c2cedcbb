import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { useAction } from "../../api/action.ts";
import { ActionDialog } from "../../parts/ActionDialog.tsx";
import { type ApiKey, ApiKeys, MakeKey, NewKey } from "../../parts/ApiKeys.tsx";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Layout.tsx";
import { ownKeysQuery } from "./queries.ts";

/** The caller's own keys: made here, shown once, revoked here. */
export function OwnKeys() {
  const query = useQuery(ownKeysQuery);
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<string>();
  const [revoked, setRevoked] = useState<ApiKey>();
  const make = useAction("POST /user/api-keys", ({ key }) => {
    setMaking(false);
    setMade(key);
  });
  const forget = (): void => {
    setMade(undefined);
    make.reset();
  };
  const revoke = useAction("DELETE /user/api-keys/{key_id}", () => setRevoked(undefined));
  return (
    <Card
      title="API keys"
      aside={
        <Button icon="plus" onClick={() => setMaking(true)}>
          New key
        </Button>
      }
    >
      {query.error !== null && query.data === undefined ? (
        <FailedToRead error={query.error} retry={() => void query.refetch()} />
      ) : (
        <ApiKeys
          keys={query.data}
          actions={(key) => (
            <Button look="danger" onClick={() => setRevoked(key)}>
              Revoke
            </Button>
          )}
        />
      )}
      {isMaking ? (
        <MakeKey action={make} inputOf={(body) => ({ body })} onClose={() => setMaking(false)} />
      ) : null}
      {made === undefined ? null : <NewKey value={made} onClose={forget} />}
      {revoked === undefined ? null : (
        <ActionDialog
          title={`Revoke “${revoked.description}”?`}
          submit="Revoke the key"
          isDanger
          action={revoke}
          input={{ params: { key_id: revoked.id } }}
          onClose={() => setRevoked(undefined)}
        >
          <p>Whatever uses it is refused from now on, and sessions that began with it end.</p>
        </ActionDialog>
      )}
    </Card>
  );
}
