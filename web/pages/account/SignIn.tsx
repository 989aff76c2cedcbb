import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";

import { signInMethodsQuery } from "../../api/account.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../ui/Button.tsx";
import { ErrorNote } from "../../ui/ErrorNote.tsx";
import { Field } from "../../ui/Field.tsx";
import { Note } from "../../ui/Note.tsx";
import styles from "./Account.module.css";
import { EntryFrame } from "./EntryFrame.tsx";
import { ProviderButtons } from "./ProviderButtons.tsx";
import { takeToken } from "./token.ts";

const route = getRouteApi("/-/sign-in");

/** Where to go after signing in: an address of this site and no other. */
function safeNext(next: string | undefined): string {
  return next !== undefined && /^\/(?![/\\])/.test(next) && !next.includes("\\") ? next : "/";
}

/** Begins a session and goes on to where one wanted to be, with nothing left of what was read before. */
function useSignIn(next: string | undefined) {
  const queries = useQueryClient();
  const router = useRouter();
  return useMutation({
    mutationFn: (body: { api_key: string } | { token: string }) => call("POST /user/sessions", { body }),
    onSuccess: async () => {
      queries.clear();
      await router.navigate({ href: safeNext(next), replace: true });
    },
  });
}

const isPlainHttp =
  location.protocol === "http:" && !/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(location.hostname);

interface KeyFormProps {
  isPending: boolean;
  error: Error | null;
  onSend: (api_key: string) => void;
}

/** Asks for an API key. */
function KeyForm({ isPending, error, onSend }: KeyFormProps) {
  const [key, setKey] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSend(key.trim());
  };
  return (
    <form onSubmit={submit}>
      <Field
        label="API key"
        hint="It is sent once and not kept in this browser."
        wrong={error === null ? undefined : error.message}
      >
        {(tie) => (
          <input
            {...tie}
            type="password"
            name="api_key"
            autoComplete="current-password"
            required
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" look="primary" refused={isPending ? "Signing in" : undefined}>
        {isPending ? "Signing in…" : "Sign in"}
      </Button>
    </form>
  );
}

/** What to do while the only way in is closed. */
function WhenProviderIsAway() {
  return (
    <p className={styles["lead"]}>
      API keys work for programs, not for these pages. When the provider is away, whoever runs this
      installation makes a link that works once: <code>waybill admin sign-in-link</code>.
    </p>
  );
}

function WhereKeysAre() {
  return (
    <p className={styles["lead"]}>
      The first key is in the file that the server named when it started.{" "}
      <code>waybill admin sign-in-link</code> makes a link that works once.
    </p>
  );
}

/** The page that leads to the sign-in provider, asks for an API key where that is a way in, or uses a one-time link. */
export function SignIn() {
  const { next } = route.useSearch();
  const signIn = useSignIn(next);
  const methods = useQuery(signInMethodsQuery);
  const provider = methods.data?.methods.find(({ kind }) => kind === "oidc");
  // A server that does not say how people sign in may take a key all the same.
  const takesKeys = methods.data?.methods.some(({ kind }) => kind === "api_key") ?? !methods.isPending;
  const byProvider = provider === undefined ? "\u00A0" : `With your account at ${provider.display_name}.`;
  const tried = useRef(false);
  useEffect(() => {
    if (tried.current) return;
    tried.current = true;
    const token = takeToken();
    if (token !== undefined) signIn.mutate({ token });
  }, [signIn]);
  return (
    <EntryFrame
      title="Sign in"
      heading="Sign in"
      lead={takesKeys ? "With an API key of yours, or of a service account." : byProvider}
    >
      {isPlainHttp && takesKeys ? (
        <Note kind="warn">This connection is not encrypted: the key can be read on its way.</Note>
      ) : null}
      <ProviderButtons next={safeNext(next)} look={takesKeys ? "plain" : "primary"} />
      {takesKeys ? (
        <>
          <KeyForm
            isPending={signIn.isPending}
            error={signIn.error}
            onSend={(api_key) => signIn.mutate({ api_key })}
          />
          <WhereKeysAre />
        </>
      ) : methods.isPending ? null : (
        <>
          {signIn.error === null ? null : <ErrorNote failure={signIn.error} />}
          <WhenProviderIsAway />
        </>
      )}
    </EntryFrame>
  );
}
