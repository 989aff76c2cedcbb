import { useQuery } from "@tanstack/react-query";
import { Link, useRouterState } from "@tanstack/react-router";

import { signInMethodsQuery } from "../api/account.ts";
import { ApiError } from "../api/errors.ts";
import { buttonClass } from "../ui/Button.tsx";
import { ErrorNote } from "../ui/ErrorNote.tsx";
import { Stack } from "../ui/Layout.tsx";
import { Note } from "../ui/Note.tsx";

/** Leads to the sign-in provider, where the person proves anew who they are, and back to this page. */
function SignInAgain() {
  const here = useRouterState({ select: ({ location }) => location.href });
  const { data } = useQuery(signInMethodsQuery);
  const provider = data?.methods.find(({ kind, address }) => kind === "oidc" && address !== null);
  return (
    <Note kind="warn">
      <Stack>
        <p>
          You signed in more than 30 minutes ago. Show once more that it is you; then you come back to this
          page and do it again.
        </p>
        {provider === undefined ? null : (
          <p>
            {/* A whole page is loaded: the address leads to another site. */}
            <a
              className={buttonClass("primary")}
              href={`${provider.address}?renew=1&next=${encodeURIComponent(here)}`}
            >
              Sign in again with {provider.display_name}
            </a>
          </p>
        )}
      </Stack>
    </Note>
  );
}

/** Says that the session has ended, and leads to the sign-in in another tab: what was written here stays. */
function SignedOut() {
  const here = useRouterState({ select: ({ location }) => location.href });
  return (
    <Note kind="bad">
      <Stack>
        <p>You are signed out. What you have written stays: sign in in another tab, then send it again.</p>
        <p>
          <Link to="/-/sign-in" search={{ next: here }} target="_blank" className={buttonClass("primary")}>
            Sign in
          </Link>
        </p>
      </Stack>
    </Note>
  );
}

/** Says why an action was refused, and leads to the sign-in where one, or a recent one, is all that is missing. */
export function Refused({ error }: { error: Error }) {
  if (error instanceof ApiError && error.status === 401) return <SignedOut />;
  return error instanceof ApiError && error.reason === "insufficient_user_authentication" ? (
    <SignInAgain />
  ) : (
    <ErrorNote failure={error} />
  );
}
