import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { useRefusal } from "../../api/account.ts";
import { useAction } from "../../api/action.ts";
import { pageOfHead } from "../../api/page.ts";
import { roleUnknown } from "../../domain/roles.ts";
import { DeliveryButtons } from "../../parts/DeliveryButtons.tsx";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { PagedList } from "../../parts/PagedList.tsx";

import { Payload } from "../../parts/Payload.tsx";
import { Empty, NoMatch } from "../../ui/Empty.tsx";
import { ErrorNote } from "../../ui/ErrorNote.tsx";
import { Choice, FilterBar } from "../../ui/Field.tsx";
import { Quiet, Tag } from "../../ui/Layout.tsx";
import { Status, statusChoices, type StatusKind } from "../../ui/Status.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import styles from "./Actions.module.css";
import { targetWords } from "./ActionState.tsx";
import { deliveriesExport } from "./exports.ts";
import { deliveriesQuery, type Delivery, deliveryQuery } from "./queries.ts";

const route = getRouteApi("/$org/actions/$number");

const statuses = {
  waiting: ["warn", "Waiting"],
  delivered: ["good", "Delivered"],
  failed: ["bad", "Failed"],
  cancelled: ["quiet", "Cancelled"],
} as const satisfies Record<Delivery["status"], readonly [StatusKind, string]>;

function Outcome({ delivery }: { delivery: Delivery }) {
  const { status, attempts, next_attempt_at, response_status, error } = delivery;
  const [kind, words] = statuses[status];
  return (
    <span className={styles["lines"]}>
      <span>
        <Status kind={kind} words={words} />
      </span>
      {error === null ? null : <span className={styles["wrong"]}>{error}</span>}
      <Quiet isSmall>
        {attempts === 1 ? "1 attempt" : `${attempts} attempts`}
        {response_status === null ? "" : `, answered ${response_status}`}
        {next_attempt_at === null ? null : (
          <>
            , next <Time at={next_attempt_at} mayBeAhead />
          </>
        )}
      </Quiet>
    </span>
  );
}

function useColumns(onReplay: (delivery: Delivery) => void, isReplaying: boolean): Column<Delivery>[] {
  const { org } = route.useParams();
  const { open } = route.useSearch();
  const navigate = route.useNavigate();
  const refused = useRefusal(org, "POST /actions/{org}/{action_number}/deliveries/{delivery_id}/replay");
  return [
    {
      key: "what",
      head: "What happened",
      cell: ({ description, occurred_at, target, replay_of }) => (
        <span className={styles["lines"]}>
          <span>{description}</span>
          <Quiet isSmall>
            <Time at={occurred_at} /> · to {targetWords[target.type]}
          </Quiet>
          {replay_of === null ? null : (
            <span>
              <Tag>delivered again</Tag>
            </span>
          )}
        </span>
      ),
    },
    { key: "outcome", head: "Delivery", cell: (delivery) => <Outcome delivery={delivery} /> },
    {
      key: "actions",
      head: <span className="visually-hidden">Actions</span>,
      isNumber: true,
      cell: (delivery) => (
        <DeliveryButtons
          words={{ payload: `Payload of ${delivery.description}`, replay: `Replay ${delivery.description}` }}
          isOpen={open === delivery.id}
          onOpen={() =>
            void navigate({
              search: (before) => ({ ...before, open: open === delivery.id ? undefined : delivery.id }),
              replace: true,
              resetScroll: false,
            })
          }
          refused={isReplaying ? "Under way" : refused}
          onReplay={() => onReplay(delivery)}
        />
      ),
    },
  ];
}

function Opened({ delivery }: { delivery: Delivery }) {
  const { org } = route.useParams();
  return <Payload query={useQuery(deliveryQuery(org, delivery.action_number, delivery.id))} />;
}

function NoDeliveries() {
  const { status } = route.useSearch();
  const navigate = route.useNavigate();
  if (status === undefined)
    return (
      <Empty
        title="Nothing was sent yet"
        text="What is sent stands here for 30 days, with what came of it."
      />
    );
  return (
    <NoMatch
      title="No delivery matches"
      text="None stands so."
      onClear={() => void navigate({ search: {} })}
    />
  );
}

function DeliveryList() {
  const { org, number } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(deliveriesQuery(org, number, search));
  const replay = useAction("POST /actions/{org}/{action_number}/deliveries/{delivery_id}/replay");
  const columns = useColumns(
    ({ id, action_number }) => replay.mutate({ params: { org, action_number, delivery_id: id } }),
    replay.isPending,
  );
  const page = query.data === undefined ? undefined : pageOfHead(query.data, query.data.deliveries);
  return (
    <>
      <FilterBar>
        <Choice
          label="Status"
          value={search.status}
          choices={statusChoices(statuses)}
          onChoose={(status) => void navigate({ search: { status } })}
        />
        <output>{replay.isSuccess ? "Will be delivered again" : ""}</output>
        <ExportMenu list={deliveriesExport(org, number, search)} />
      </FilterBar>
      {replay.error === null ? null : <ErrorNote failure={replay.error} />}
      <PagedList
        query={query}
        page={page}
        empty={<NoDeliveries />}
        onPage={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
      >
        {(rows, isOld) => (
          <Table
            label="Deliveries"
            columns={columns}
            rows={rows}
            rowKey={({ id }) => id}
            isOld={isOld}
            expectedRows={4}
            below={(delivery) => (delivery.id === search.open ? <Opened delivery={delivery} /> : null)}
          />
        )}
      </PagedList>
    </>
  );
}

/** What an action sent, to whom, and what came of it. */
export function Deliveries() {
  const { org } = route.useParams();
  const refused = useRefusal(org, "GET /actions/{org}/{action_number}/deliveries");
  return (
    <section aria-label="Deliveries">
      <h2 className="visually-hidden">Deliveries</h2>
      {refused === roleUnknown ? null : refused === undefined ? (
        <DeliveryList />
      ) : (
        <Quiet>Deliveries are for members. {refused}.</Quiet>
      )}
    </section>
  );
}
