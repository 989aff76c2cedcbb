import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { failingFirst, wordsOfTrigger } from "../../domain/actions.ts";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { PageHead } from "../../shell/PageHead.tsx";
import { Button, buttonClass } from "../../ui/Button.tsx";
import { Empty, NoMatch } from "../../ui/Empty.tsx";
import { Check, FilterBar } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Quiet, Tags } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import styles from "./Actions.module.css";
import { ActionState, targetWords } from "./ActionState.tsx";
import { actionsExport } from "./exports.ts";
import { type Action, actionsQuery } from "./queries.ts";
import { SigningSecret } from "./SigningSecret.tsx";

const route = getRouteApi("/$org/actions");

const namesAsTags = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, ""]));

/** When it reached a target last, or failed to. */
function LastDone({ action }: { action: Action }) {
  const { last_success_timestamp: good, last_failure_timestamp: bad } = action;
  if (good === null && bad === null) return <Quiet>never fired</Quiet>;
  return <Time at={Math.max(good ?? 0, bad ?? 0)} />;
}

function useColumns(): Column<Action>[] {
  const { org } = route.useParams();
  return [
    {
      key: "name",
      head: "Name",
      cell: ({ number, name }) => (
        <>
          <Link to="/$org/actions/$number" params={{ org, number: String(number) }}>
            <strong>{name}</strong>
          </Link>{" "}
          <Quiet isSmall>#{number}</Quiet>
        </>
      ),
    },
    { key: "state", head: "State", width: "130px", cell: (action) => <ActionState action={action} /> },
    {
      key: "when",
      head: "When",
      isOptional: true,
      cell: ({ triggers }) => (
        <span className={styles["lines"]}>
          {triggers.map((trigger) => (
            <span key={trigger}>{wordsOfTrigger(trigger)}</span>
          ))}
        </span>
      ),
    },
    {
      key: "in",
      head: "In",
      isOptional: true,
      cell: ({ environments, flows }) => <Tags tags={namesAsTags(environments ?? flows ?? [])} shown={1} />,
    },
    {
      key: "tells",
      head: "Tells",
      isOptional: true,
      cell: ({ targets }) => (
        <Tags tags={namesAsTags(targets.map(({ type }, place) => `${place + 1}. ${targetWords[type]}`))} />
      ),
    },
    { key: "last", head: "Last", cell: (action) => <LastDone action={action} /> },
  ];
}

function NewActionLink() {
  const { org } = route.useParams();
  const refused = useRefusal(org, "PUT /actions/{org}/environments");
  if (refused !== undefined)
    return (
      <Button icon="plus" refused={refused}>
        New action
      </Button>
    );
  return (
    <Link to="/$org/actions/-/new" params={{ org }} className={buttonClass("primary")}>
      <Icon name="plus" />
      New action
    </Link>
  );
}

function ActionList() {
  const { org } = route.useParams();
  const { failing } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(actionsQuery(org));
  const columns = useColumns();
  if (query.error !== null && query.data === undefined)
    return <FailedToRead error={query.error} retry={() => void query.refetch()} />;
  if (query.data?.length === 0)
    return (
      <Empty
        title="No actions yet"
        text="An action tells people and programs what happens: when production becomes non-compliant, a reporter falls silent, or evidence comes in."
      >
        <p>
          <NewActionLink />
        </p>
      </Empty>
    );
  const sorted = query.data === undefined ? undefined : failingFirst(query.data);
  const shown = failing === true ? sorted?.filter(({ is_failing }) => is_failing === true) : sorted;
  return (
    <>
      <FilterBar>
        <Check
          checked={failing === true}
          onChange={(event) =>
            void navigate({ search: { failing: event.target.checked ? (true as const) : undefined } })
          }
        >
          Failing only
        </Check>
        {shown === undefined ? null : <ExportMenu list={actionsExport(org, shown)} />}
      </FilterBar>
      {shown?.length === 0 ? (
        <NoMatch
          title="No action fails"
          text="The last attempt of each reached its target."
          onClear={() => void navigate({ search: {} })}
        />
      ) : (
        <Table
          label="Actions"
          columns={columns}
          rows={shown}
          rowKey={({ number }) => String(number)}
          expectedRows={4}
        />
      )}
    </>
  );
}

/** Who is told of what: those that fail stand first. */
export function Actions() {
  const { org } = route.useParams();
  const [isSecretOpen, setSecretOpen] = useState(false);
  const refused = useRefusal(org, "GET /actions/{org}/signing-secret");
  return (
    <>
      <PageHead
        title="Actions"
        actions={
          <>
            <Button refused={refused} onClick={() => setSecretOpen(true)}>
              Signing secret
            </Button>
            <NewActionLink />
          </>
        }
      />
      <ActionList />
      {isSecretOpen ? <SigningSecret org={org} onClose={() => setSecretOpen(false)} /> : null}
    </>
  );
}
