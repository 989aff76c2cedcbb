import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";

import { call } from "../../api/client.ts";
import { Button } from "../../ui/Button.tsx";
import { ErrorNote } from "../../ui/ErrorNote.tsx";
import { Field } from "../../ui/Field.tsx";
import { Note } from "../../ui/Note.tsx";
import { EntryFrame } from "./EntryFrame.tsx";
import { takeToken } from "./token.ts";

/** The page that an invitation leads to: it makes a user, a member, and a session. */
export function Invitation() {
  const queries = useQueryClient();
  const router = useRouter();
  const [token] = useState(takeToken);
  const [display_name, setDisplayName] = useState("");
  const accept = useMutation({
    mutationFn: (body: { token: string; display_name: string }) => call("POST /invitations/accept", { body }),
    onSuccess: async () => {
      queries.clear();
      await router.navigate({ to: "/", replace: true });
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (token !== undefined) accept.mutate({ token, display_name });
  };
  return (
    <EntryFrame
      title="Invitation"
      heading="You are invited"
      lead="Accepting makes you a user of this Waybill and signs you in."
    >
      {token === undefined ? (
        <Note kind="warn">This address lacks the part behind #. Use the whole link that you were sent.</Note>
      ) : (
        <form onSubmit={submit}>
          <Field label="Your name" hint="As others will see it.">
            {(tie) => (
              <input
                {...tie}
                autoComplete="name"
                value={display_name}
                onChange={(event) => setDisplayName(event.target.value)}
              />
            )}
          </Field>
          {accept.error === null ? null : <ErrorNote failure={accept.error} />}
          <Button type="submit" look="primary" refused={accept.isPending ? "Under way" : undefined}>
            Accept
          </Button>
        </form>
      )}
    </EntryFrame>
  );
}
