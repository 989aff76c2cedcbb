import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { Link, useParams, useRouterState } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";

import { organizationsQuery, useAccount, useRefusal, useRole } from "../api/account.ts";
import { ApiError } from "../api/errors.ts";
import { Button, buttonClass } from "../ui/Button.tsx";
import { Empty } from "../ui/Empty.tsx";
import { ErrorNote } from "../ui/ErrorNote.tsx";
import { Waiting } from "../ui/Waiting.tsx";
import { useOpenSearch } from "./search.ts";

function SignInHere() {
  const here = useRouterState({ select: ({ location }) => location.href });
  return (
    <Link to="/-/sign-in" search={{ next: here }} className={buttonClass("primary")}>
      Sign in
    </Link>
  );
}

/** Says to somebody who is signed in why this is closed to them: their role is too low, or they do not belong here. */
function NotOpen({ error: { message, operation = "GET /user" } }: { error: ApiError }) {
  const { org = "" } = useParams({ strict: false });
  const { isPending } = useQuery(organizationsQuery);
  const account = useAccount();
  const role = useRole(org);
  const refused = useRefusal(org, operation);
  if (isPending) return <Waiting />;
  if (role !== undefined)
    return (
      <Empty
        title="This is not open to you"
        text={
          refused === undefined ? message : `${refused}. An administrator of ${org} can change your role.`
        }
      />
    );
  if (org === "" || account === null || account === undefined)
    return <Empty title="This is not open to you" text={message} />;
  return (
    <Empty
      title="This is not open to you"
      text={`You are signed in as ${account.name}, who is not a member of ${org}. If there is such an organization, its administrators can add you.`}
    >
      <p>
        <Link to="/-/organizations" className={buttonClass("primary")}>
          Your organizations
        </Link>
      </p>
    </Empty>
  );
}

/** What a message of the server names first: 'checkout'. */
const quoted = /['"]([^'"]+)['"]/;

/** Says which part of the address there is not, and offers to look for it. */
function NotHere({ error: { message } }: { error: ApiError }) {
  const openSearch = useOpenSearch();
  return (
    <Empty title="This is not here" text={message}>
      {openSearch === undefined ? undefined : (
        <p>
          <Button icon="search" onClick={() => openSearch(quoted.exec(message)?.[1])}>
            Search for it
          </Button>
        </p>
      )}
    </Empty>
  );
}

const Archived = lazy(async () => ({ default: (await import("./Archived.tsx")).Archived }));

/** Reads out of a refusal which environment was archived; undefined for any other. Its name is free since, its records have another. */
function archivedName({ status, message }: ApiError): string | undefined {
  return status === 404 ? /^Environment named '([^']+)' has been archived/.exec(message)?.[1] : undefined;
}

/** Says in a part of a page why it could not be read, and what leads on. */
export function FailedToRead({ error, retry }: { error: Error; retry: () => void }) {
  if (!(error instanceof ApiError)) return <ErrorNote failure={error} retry={retry} />;
  const archived = archivedName(error);
  if (archived !== undefined)
    return (
      <Suspense fallback={<Waiting />}>
        <Archived name={archived} />
      </Suspense>
    );
  if (error.status === 401)
    return (
      <Empty title="Sign in to see this" text="It is open to members of its organization alone.">
        <p>
          <SignInHere />
        </p>
      </Empty>
    );
  if (error.status === 403) return <NotOpen error={error} />;
  if (error.status === 404) return <NotHere error={error} />;
  return <ErrorNote failure={error} retry={retry} />;
}

interface LoadedProps<T> {
  query: UseQueryResult<T>;
  /** Stands there until the answer comes. */
  waiting?: ReactNode;
  children: (data: T) => ReactNode;
}

const skeleton = <Waiting />;

/** Shows an answer once there is one, or why there is none. An answer that could not be refreshed stays, unless it was withdrawn. */
export function Loaded<T>({ query, waiting = skeleton, children }: LoadedProps<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error !== null) return <FailedToRead error={query.error} retry={() => void query.refetch()} />;
  return waiting;
}

interface BelowLoadedProps {
  /** What stands above. */
  above: readonly Pick<UseQueryResult, "isPending">[];
  /** Stands there until then. */
  waiting?: ReactNode;
  children: ReactNode;
}

/**
 * Shows what stands below an answer once that is there, or why there is none. Nobody knows before how much room it takes: what was shown
 * before would be pushed down by it.
 */
export function BelowLoaded({ above, waiting = null, children }: BelowLoadedProps) {
  return above.some(({ isPending }) => isPending) ? waiting : children;
}
