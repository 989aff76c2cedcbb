import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { useAccount, useRefusal, useRole } from "../../api/account.ts";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { Button } from "../../ui/Button.tsx";
import { Empty } from "../../ui/Empty.tsx";
import { FilterBar } from "../../ui/Field.tsx";
import { Quiet, Row, Tag } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import { ChangeAccount, NewAccount, RemoveAccount } from "./AccountDialogs.tsx";
import { AccountKeys } from "./AccountKeys.tsx";
import { accountsExport } from "./exports.ts";
import { type ServiceAccount, serviceAccountsQuery } from "./queries.ts";
import styles from "./Settings.module.css";
import { SettingsHead } from "./SettingsHead.tsx";

const route = getRouteApi("/$org/settings/service-accounts");

type Asked = { what: "change" | "remove"; account: ServiceAccount };

/** Says why the caller may not manage an account: it is managed by who made it, and by admins. */
function useManagement(): (account: ServiceAccount) => string | undefined {
  const { org } = route.useParams();
  const account = useAccount();
  const role = useRole(org);
  const refused = useRefusal(org, "PATCH /service-accounts/{org}/{name}");
  return ({ creating_user_id }) => {
    if (refused !== undefined || role === "admin" || creating_user_id === account?.id) return refused;
    return "Only who made it and admins may";
  };
}

function useColumns(
  refusalOf: (account: ServiceAccount) => string | undefined,
  onAsk: (asked: Asked) => void,
): Column<ServiceAccount>[] {
  const { open } = route.useSearch();
  const navigate = route.useNavigate();
  const show = (name: string | undefined): void =>
    void navigate({ search: { open: name }, replace: true, resetScroll: false });
  return [
    {
      key: "name",
      head: "Name",
      cell: ({ name, description, for_webhook }) => (
        <>
          <Row>
            <strong>{name}</strong>
            {for_webhook ? <Tag>webhook</Tag> : null}
          </Row>
          {description === "" ? null : <Quiet isSmall>{description}</Quiet>}
        </>
      ),
    },
    { key: "role", head: "Role", cell: ({ privilege }) => <Tag>{privilege}</Tag> },
    { key: "made", head: "Made", isOptional: true, cell: ({ created_at }) => <Time at={created_at} /> },
    {
      key: "actions",
      head: <span className="visually-hidden">Actions</span>,
      isNumber: true,
      cell: (account) => (
        <span className={styles["buttons"]}>
          <Button
            icon="chevron"
            aria-expanded={open === account.name}
            aria-label={`Keys of ${account.name}`}
            refused={refusalOf(account)}
            onClick={() => show(open === account.name ? undefined : account.name)}
          >
            Keys
          </Button>
          <Button
            icon="edit"
            aria-label={`Change ${account.name}`}
            refused={refusalOf(account)}
            onClick={() => onAsk({ what: "change", account })}
          />
          <Button
            look="danger"
            icon="trash"
            aria-label={`Remove ${account.name}`}
            refused={refusalOf(account)}
            onClick={() => onAsk({ what: "remove", account })}
          />
        </span>
      ),
    },
  ];
}

function AccountList() {
  const { org } = route.useParams();
  const { open } = route.useSearch();
  const [asked, setAsked] = useState<Asked>();
  const query = useQuery(serviceAccountsQuery(org));
  const refusalOf = useManagement();
  const columns = useColumns(refusalOf, setAsked);
  const close = (): void => setAsked(undefined);
  // What others have made of it since it was asked about counts.
  const account = query.data?.find(({ name }) => name === asked?.account.name) ?? asked?.account;
  if (query.error !== null && query.data === undefined)
    return <FailedToRead error={query.error} retry={() => void query.refetch()} />;
  if (query.data?.length === 0)
    return (
      <Empty
        title="No service accounts yet"
        text="A service account is for a program: a pipeline or a reporter has a key of one, in a role that allows just what it does."
      />
    );
  return (
    <>
      {query.data === undefined ? null : (
        <FilterBar>
          <ExportMenu list={accountsExport(org, query.data)} />
        </FilterBar>
      )}
      <Table
        label="Service accounts"
        columns={columns}
        rows={query.data}
        rowKey={({ name }) => name}
        expectedRows={4}
        below={(account) =>
          account.name === open && refusalOf(account) === undefined ? (
            <AccountKeys org={org} name={account.name} />
          ) : null
        }
      />
      {account !== undefined && asked?.what === "change" ? (
        <ChangeAccount org={org} account={account} onClose={close} />
      ) : null}
      {account !== undefined && asked?.what === "remove" ? (
        <RemoveAccount org={org} account={account} onClose={close} />
      ) : null}
    </>
  );
}

/** The programs that report here, and their keys. */
export function ServiceAccounts() {
  const { org } = route.useParams();
  const [isMaking, setMaking] = useState(false);
  const refused = useRefusal(org, "POST /service-accounts/{org}");
  return (
    <>
      <SettingsHead
        org={org}
        actions={
          <Button icon="plus" refused={refused} onClick={() => setMaking(true)}>
            New service account
          </Button>
        }
      />
      <AccountList />
      {isMaking ? <NewAccount org={org} onClose={() => setMaking(false)} /> : null}
    </>
  );
}
