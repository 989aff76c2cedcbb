import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { useProviderOnly, useRefusal } from "../../api/account.ts";
import { useAction } from "../../api/action.ts";
import { pageOfData } from "../../api/page.ts";
import { type Role, roleUnknown } from "../../domain/roles.ts";
import { ActionDialog, wrongField } from "../../parts/ActionDialog.tsx";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { RoleField } from "../../parts/RoleField.tsx";
import { ShownOnce } from "../../parts/ShownOnce.tsx";
import { Button } from "../../ui/Button.tsx";
import { Field } from "../../ui/Field.tsx";
import { Quiet, Tag } from "../../ui/Layout.tsx";
import { Pager } from "../../ui/Pager.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import { type Invitation, invitationsQuery } from "./queries.ts";
import styles from "./Settings.module.css";

const route = getRouteApi("/$org/settings/members");

/** Asks whom to invite, and then shows the link that makes them a user. */
function Invite({ org, onClose }: { org: string; onClose: () => void }) {
  const [user, setUser] = useState("");
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("reader");
  const invite = useAction("POST /members/{org}/invitations");
  if (invite.data !== undefined)
    return (
      <ShownOnce title={`The link for ${user}`} label="invitation" value={invite.data.link} onClose={onClose}>
        <p>
          Pass it on in private: whoever opens it first becomes {user}. It works once, until{" "}
          <Time at={invite.data.expires_at} exact />.
        </p>
      </ShownOnce>
    );
  return (
    <ActionDialog
      title="Invite somebody"
      submit="Make the link"
      action={invite}
      input={{ params: { org }, body: { user, role, email: email === "" ? null : email } }}
      onClose={onClose}
    >
      <Field
        label="Name"
        hint="The name they will have: letters, digits, and . _ - between them."
        wrong={wrongField(invite.error, "user")}
      >
        {(tie) => (
          <input
            {...tie}
            required
            autoComplete="off"
            value={user}
            onChange={(event) => setUser(event.target.value)}
          />
        )}
      </Field>
      <Field
        label="E-mail"
        hint="To remember to whom the link is given. Nothing is sent."
        wrong={wrongField(invite.error, "email")}
      >
        {(tie) => (
          <input
            {...tie}
            type="email"
            autoComplete="off"
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      <RoleField value={role} onChoose={setRole} wrong={wrongField(invite.error, "role")} />
    </ActionDialog>
  );
}

function columnsOf(takeBack: (invitation: Invitation) => void): Column<Invitation>[] {
  return [
    {
      key: "user",
      head: "Name",
      cell: ({ user, email }) => (
        <>
          <strong>{user}</strong>
          {email === "" ? null : (
            <div>
              <Quiet isSmall>{email}</Quiet>
            </div>
          )}
        </>
      ),
    },
    { key: "role", head: "Role", cell: ({ role }) => <Tag>{role}</Tag> },
    { key: "by", head: "Invited by", isOptional: true, cell: ({ invited_by }) => invited_by },
    {
      key: "ends",
      head: "Ends",
      isOptional: true,
      cell: ({ expires_at }) => <Time at={expires_at} mayBeAhead />,
    },
    {
      key: "actions",
      head: <span className="visually-hidden">Actions</span>,
      isNumber: true,
      cell: (invitation) => (
        <Button
          look="danger"
          aria-label={`Take back the invitation of ${invitation.user}`}
          onClick={() => takeBack(invitation)}
        >
          Take back
        </Button>
      ),
    },
  ];
}

function OpenInvitations() {
  const { org } = route.useParams();
  const { page: number = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const [asked, setAsked] = useState<Invitation>();
  const query = useQuery(invitationsQuery(org, number));
  const takeBack = useAction("DELETE /members/{org}/invitations/{invitation_id}", () => setAsked(undefined));
  if (query.error !== null && query.data === undefined)
    return <FailedToRead error={query.error} retry={() => void query.refetch()} />;
  const page = query.data === undefined ? undefined : pageOfData(query.data);
  if (page?.total === 0) return <Quiet>No invitation is open.</Quiet>;
  return (
    <>
      <Table
        label="Invitations"
        columns={columnsOf(setAsked)}
        rows={page?.items}
        rowKey={({ id }) => id}
        expectedRows={1}
      />
      {page === undefined || (page.total ?? 0) <= page.per_page ? null : (
        <Pager
          {...page}
          count={page.items.length}
          onPage={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
        />
      )}
      {asked === undefined ? null : (
        <ActionDialog
          title={`Take back the invitation of ${asked.user}?`}
          submit="Take back"
          isDanger
          action={takeBack}
          input={{ params: { org, invitation_id: asked.id } }}
          onClose={() => setAsked(undefined)}
        >
          <p>Its link stops working at once.</p>
        </ActionDialog>
      )}
    </>
  );
}

const byProvider = "People become users here by signing in at the sign-in provider";

/** Who was asked to become a user and a member, and has not yet. */
export function Invitations() {
  const { org } = route.useParams();
  const [isInviting, setInviting] = useState(false);
  const refused = useRefusal(org, "POST /members/{org}/invitations");
  const isProviderOnly = useProviderOnly() === true;
  return (
    <section className={styles["section"]} aria-label="Invitations">
      <div className={styles["sectionHead"]}>
        <h2>Invitations</h2>
        <Button
          icon="plus"
          refused={refused ?? (isProviderOnly ? byProvider : undefined)}
          onClick={() => setInviting(true)}
        >
          Invite
        </Button>
      </div>
      {refused === roleUnknown ? null : refused === undefined ? (
        <OpenInvitations />
      ) : (
        <Quiet>Administrators see who is invited.</Quiet>
      )}
      {isInviting ? <Invite org={org} onClose={() => setInviting(false)} /> : null}
    </section>
  );
}
