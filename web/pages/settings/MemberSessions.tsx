import { useQuery } from "@tanstack/react-query";

import { useAction } from "../../api/action.ts";
import { ActionDialog } from "../../parts/ActionDialog.tsx";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { SessionTable } from "../../parts/SessionTable.tsx";
import { type Member, memberSessionsQuery } from "./queries.ts";

interface MemberSessionsProps {
  org: string;
  member: Member;
  onClose: () => void;
}

/** Where a member is signed in, and whether all of that is to end. */
export function MemberSessions({ org, member: { user }, onClose }: MemberSessionsProps) {
  const query = useQuery(memberSessionsQuery(org, user));
  const end = useAction("DELETE /members/{org}/{user}/sessions", onClose);
  const count = query.data?.pagination.total;
  return (
    <ActionDialog
      title={`Sessions of ${user}`}
      submit="End all of them"
      isDanger
      isWide
      action={end}
      input={{ params: { org, user } }}
      onClose={onClose}
    >
      {query.error !== null && query.data === undefined ? (
        <FailedToRead error={query.error} retry={() => void query.refetch()} />
      ) : count === 0 ? (
        <p>{user} is not signed in anywhere.</p>
      ) : (
        <SessionTable sessions={query.data?.data} />
      )}
      <p>They are signed out at once, in all their organizations. Their API keys go on working.</p>
    </ActionDialog>
  );
}
