import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { Button } from "../../ui/Button.tsx";
import { Empty } from "../../ui/Empty.tsx";
import { FilterBar, SearchField } from "../../ui/Field.tsx";
import { Quiet, Tag } from "../../ui/Layout.tsx";
import { LongTable } from "../../ui/LongTable.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import { membersExport } from "./exports.ts";
import { Invitations } from "./Invitations.tsx";
import { AddMember, ChangeRole, RemoveMember } from "./MemberDialogs.tsx";
import { MemberSessions } from "./MemberSessions.tsx";
import { type Member, membersQuery } from "./queries.ts";
import styles from "./Settings.module.css";
import { SettingsHead } from "./SettingsHead.tsx";

const route = getRouteApi("/$org/settings/members");

/** Above so many rows only those are drawn that can be seen. */
const longFrom = 200;

type Asked = { what: "role" | "sessions" | "remove"; member: Member };

function useColumns(onAsk: (asked: Asked) => void): Column<Member>[] {
  const { org } = route.useParams();
  const noChange = useRefusal(org, "PUT /members/{org}/{user}");
  const noSessions = useRefusal(org, "DELETE /members/{org}/{user}/sessions");
  const noRemoval = useRefusal(org, "DELETE /members/{org}/{user}");
  return [
    {
      key: "member",
      head: "Member",
      cell: ({ user, display_name, disabled }) => (
        <>
          <strong>{display_name === "" ? user : display_name}</strong> {disabled ? <Tag>disabled</Tag> : null}
          {display_name === "" ? null : (
            <div>
              <Quiet isSmall>{user}</Quiet>
            </div>
          )}
        </>
      ),
    },
    { key: "role", head: "Role", cell: ({ role }) => <Tag>{role}</Tag> },
    {
      key: "source",
      head: "Given",
      isOptional: true,
      cell: ({ source }) => <Quiet>{source === "idp" ? "by the provider's rule" : "by hand"}</Quiet>,
    },
    { key: "since", head: "Since", isOptional: true, cell: ({ created_at }) => <Time at={created_at} /> },
    {
      key: "actions",
      head: <span className="visually-hidden">Actions</span>,
      isNumber: true,
      cell: (member) => (
        <span className={styles["buttons"]}>
          <Button
            icon="edit"
            refused={noChange}
            aria-label={`Change the role of ${member.user}`}
            onClick={() => onAsk({ what: "role", member })}
          />
          <Button
            icon="signout"
            refused={noSessions}
            aria-label={`Sessions of ${member.user}`}
            onClick={() => onAsk({ what: "sessions", member })}
          />
          <Button
            look="danger"
            icon="trash"
            refused={noRemoval}
            aria-label={`Remove ${member.user}`}
            onClick={() => onAsk({ what: "remove", member })}
          />
        </span>
      ),
    },
  ];
}

function MemberTable({ rows }: { rows: readonly Member[] | undefined }) {
  const { org } = route.useParams();
  const [asked, setAsked] = useState<Asked>();
  const columns = useColumns(setAsked);
  const shown = { label: "Members", columns, rows, rowKey: ({ user }: Member) => user, expectedRows: 1 };
  const close = (): void => setAsked(undefined);
  return (
    <>
      {rows !== undefined && rows.length > longFrom ? (
        <LongTable {...shown} rows={rows} />
      ) : (
        <Table {...shown} />
      )}
      {asked?.what === "role" ? <ChangeRole org={org} member={asked.member} onClose={close} /> : null}
      {asked?.what === "sessions" ? <MemberSessions org={org} member={asked.member} onClose={close} /> : null}
      {asked?.what === "remove" ? <RemoveMember org={org} member={asked.member} onClose={close} /> : null}
    </>
  );
}

function MemberList() {
  const { org } = route.useParams();
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(membersQuery(org));
  const wanted = q?.toLowerCase() ?? "";
  const found = query.data?.filter(({ user, display_name, role }) =>
    `${user} ${display_name} ${role}`.toLowerCase().includes(wanted),
  );
  const search = (text: string): void =>
    void navigate({ search: (before) => ({ ...before, q: text === "" ? undefined : text }), replace: true });
  if (query.error !== null && query.data === undefined)
    return <FailedToRead error={query.error} retry={() => void query.refetch()} />;
  return (
    <div>
      <FilterBar>
        <SearchField label="Filter by name or role" value={q ?? ""} onSearch={search} />
        <Quiet>
          {query.data?.length ?? "–"} {query.data?.length === 1 ? "member" : "members"}
        </Quiet>
        {found === undefined ? null : <ExportMenu list={membersExport(org, found)} />}
      </FilterBar>
      {found?.length === 0 ? (
        <Empty title="No member matches" text="None is called so.">
          <p>
            <Button onClick={() => search("")}>Clear the filter</Button>
          </p>
        </Empty>
      ) : (
        <MemberTable rows={found} />
      )}
    </div>
  );
}

/** Who belongs to the organization, in which role, and who is invited. */
export function Members() {
  const { org } = route.useParams();
  const [isAdding, setAdding] = useState(false);
  const members = useQuery(membersQuery(org));
  const refused = useRefusal(org, "PUT /members/{org}/{user}");
  return (
    <>
      <SettingsHead
        org={org}
        actions={
          <Button icon="plus" refused={refused} onClick={() => setAdding(true)}>
            Add a member
          </Button>
        }
      />
      <div className={styles["sections"]}>
        <MemberList />
        {/* How many members there are is not known before: what stands below them would jump. */}
        <div className={styles["sections"]} hidden={members.isPending}>
          <Invitations />
          <p className={styles["about"]}>
            Who changed whom, and when, is in the{" "}
            <Link to="/$org/audit-log" params={{ org }} search={{ kind: "members" }}>
              audit log
            </Link>
            .
          </p>
        </div>
      </div>
      {isAdding ? <AddMember org={org} onClose={() => setAdding(false)} /> : null}
    </>
  );
}
