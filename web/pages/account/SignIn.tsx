import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";

import { call } from "../../api/client.ts";
import icon from "../../icon.svg";
import { Button } from "../../ui/Button.tsx";
import { Field } from "../../ui/Field.tsx";
import { Note } from "../../ui/Note.tsx";
import styles from "./Account.module.css";
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

function WhereKeysAre() {
  return (
    <p className={styles["lead"]}>
      The first key is in the file that the server named when it started.{" "}
      <code>waybill admin sign-in-link</code> makes a link that works once.
    </p>
  );
}

/** The page that asks for an API key, or uses a one-time link. */
export function SignIn() {
  const { next } = route.useSearch();
  const signIn = useSignIn(next);
  const [key, setKey] = useState("");
  const tried = useRef(false);
  useEffect(() => {
    document.title = "Sign in · Waybill";
    if (tried.current) return;
    tried.current = true;
    const token = takeToken();
    if (token !== undefined) signIn.mutate({ token });
  }, [signIn]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    signIn.mutate({ api_key: key.trim() });
  };
  return (
    <main className={styles["page"]}>
      <div className={styles["box"]}>
        <div className={styles["brand"]}>
          <img src={icon} alt="" />
          Waybill
        </div>
        <div>
          <h1 tabIndex={-1}>Sign in</h1>
          <p className={styles["lead"]}>With an API key of yours, or of a service account.</p>
        </div>
        {isPlainHttp ? (
          <Note kind="warn">This connection is not encrypted: the key can be read on its way.</Note>
        ) : null}
        <ProviderButtons next={safeNext(next)} />
        <form onSubmit={submit}>
          <Field
            label="API key"
            hint="It is sent once and not kept in this browser."
            wrong={signIn.error === null ? undefined : signIn.error.message}
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
          <Button type="submit" look="primary" refused={signIn.isPending ? "Signing in" : undefined}>
            {signIn.isPending ? "Signing in…" : "Sign in"}
          </Button>
        </form>
        <WhereKeysAre />
      </div>
    </main>
  );
}
