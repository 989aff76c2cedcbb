import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { useAction } from "../../api/action.ts";
import { pageOfData } from "../../api/page.ts";
import { ActionDialog } from "../../parts/ActionDialog.tsx";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { SessionTable } from "../../parts/SessionTable.tsx";
import { Button } from "../../ui/Button.tsx";
import { ErrorNote } from "../../ui/ErrorNote.tsx";
import { Card, Tag } from "../../ui/Layout.tsx";
import { Pager } from "../../ui/Pager.tsx";
import { sessionsQuery } from "./queries.ts";

const route = getRouteApi("/-/profile");

/** Asks whether all other sessions are to end. */
function EndOthers({ onClose }: { onClose: () => void }) {
  const end = useAction("DELETE /user/sessions", onClose);
  return (
    <ActionDialog
      title="End all other sessions?"
      submit="End the others"
      isDanger
      action={end}
      input={{}}
      onClose={onClose}
    >
      <p>
        Every other browser is signed out at once. This one stays signed in, and your API keys go on working.
      </p>
    </ActionDialog>
  );
}

/** Where one is signed in, each of which can be ended, or all others at once. */
export function Sessions() {
  const { page: number = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(sessionsQuery(number));
  const end = useAction("DELETE /user/sessions/{session_id}");
  const [isEnding, setEnding] = useState(false);
  const page = query.data === undefined ? undefined : pageOfData(query.data);
  return (
    <Card
      title="Where you are signed in"
      aside={
        <Button
          refused={page?.total === 1 ? "There is no other one" : undefined}
          onClick={() => setEnding(true)}
        >
          End all others
        </Button>
      }
    >
      {end.error === null ? null : <ErrorNote failure={end.error} />}
      {query.error !== null && page === undefined ? (
        <FailedToRead error={query.error} retry={() => void query.refetch()} />
      ) : (
        <SessionTable
          sessions={page?.items}
          action={({ id, is_current }) =>
            is_current ? (
              <Tag>this one</Tag>
            ) : (
              <Button
                refused={end.isPending ? "Under way" : undefined}
                onClick={() => end.mutate({ params: { session_id: id } })}
              >
                End
              </Button>
            )
          }
        />
      )}
      {page === undefined || (page.total ?? 0) <= page.per_page ? null : (
        <Pager {...page} count={page.items.length} onPage={(to) => void navigate({ search: { page: to } })} />
      )}
      {isEnding ? <EndOthers onClose={() => setEnding(false)} /> : null}
    </Card>
  );
}
