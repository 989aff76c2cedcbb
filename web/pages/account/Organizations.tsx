import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { accountQuery, organizationsQuery, type OwnOrganization, useRefusal } from "../../api/account.ts";
import { useAction } from "../../api/action.ts";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { NewLink } from "../../parts/NewThing.tsx";
import { PageHead } from "../../shell/PageHead.tsx";
import { Button } from "../../ui/Button.tsx";
import { Empty } from "../../ui/Empty.tsx";
import { ErrorNote } from "../../ui/ErrorNote.tsx";
import { OneLine, Quiet, Row, Tag } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { AccountFrame } from "./AccountFrame.tsx";

/** Columns of the list; the last one chooses what is opened when nothing else is asked for. */
function useColumns(choose: (org: string) => void): Column<OwnOrganization>[] {
  const { data: account } = useQuery(accountQuery);
  return [
    {
      key: "name",
      head: "Name",
      cell: ({ name, display_name, description }) => (
        <>
          <Link to="/$org" params={{ org: name }}>
            <strong>{display_name === "" ? name : display_name}</strong>
          </Link>
          {description === "" ? null : (
            <Quiet isSmall>
              <OneLine text={description} />
            </Quiet>
          )}
        </>
      ),
    },
    {
      key: "kind",
      head: "Kind",
      isOptional: true,
      cell: ({ kind, public: isPublic }) => (
        <Row>
          <Tag>{kind}</Tag>
          {isPublic ? <Tag>public</Tag> : null}
        </Row>
      ),
    },
    { key: "role", head: "You are", cell: ({ role }) => role },
    {
      key: "default",
      head: <span className="visually-hidden">Default</span>,
      isNumber: true,
      cell: ({ name }) =>
        account?.default_org_name === name ? (
          <Tag>default</Tag>
        ) : (
          <Button onClick={() => choose(name)}>Make default</Button>
        ),
    },
  ];
}

/** Leads to the page that makes one, for those who may. */
export function NewOrganizationLink() {
  const refused = useRefusal("", "POST /organizations");
  return (
    <NewLink refused={refused} words="New organization">
      {(looks) => <Link to="/-/organizations/new" {...looks} />}
    </NewLink>
  );
}

/** The caller's organizations. */
export function Organizations() {
  const query = useQuery(organizationsQuery);
  const choose = useAction("PUT /user/{org}");
  const columns = useColumns((org) => choose.mutate({ params: { org } }));
  return (
    <AccountFrame>
      <PageHead title="Organizations" actions={<NewOrganizationLink />} />
      {choose.error === null ? null : <ErrorNote failure={choose.error} />}
      {query.error !== null && query.data === undefined ? (
        <FailedToRead error={query.error} retry={() => void query.refetch()} />
      ) : query.data?.length === 0 ? (
        <Empty title="You are in no organization" text="An administrator of one can add you.">
          <p>
            <NewOrganizationLink />
          </p>
        </Empty>
      ) : (
        <Table
          label="Organizations"
          columns={columns}
          rows={query.data}
          rowKey={({ name }) => name}
          expectedRows={3}
        />
      )}
    </AccountFrame>
  );
}
