import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { useRefusal } from "../../api/account.ts";
import { useAction } from "../../api/action.ts";
import { pageOfHead } from "../../api/page.ts";
import { DeliveryButtons } from "../../parts/DeliveryButtons.tsx";
import { PagedList } from "../../parts/PagedList.tsx";
import { Payload } from "../../parts/Payload.tsx";
import { FlowLink, TrailLink } from "../../parts/ProcessLinks.tsx";
import { Empty, NoMatch } from "../../ui/Empty.tsx";
import { ErrorNote } from "../../ui/ErrorNote.tsx";
import { Choice, FilterBar, SearchField } from "../../ui/Field.tsx";
import { Quiet, Tag } from "../../ui/Layout.tsx";
import { Status, statusChoices, type StatusKind } from "../../ui/Status.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import styles from "./Integrations.module.css";
import { deliveriesQuery, type Delivery, deliveryQuery } from "./queries.ts";

const route = getRouteApi("/$org/integrations");

const statuses = {
  accepted: ["warn", "Waiting"],
  processed: ["good", "Recorded"],
  duplicate: ["quiet", "Duplicate"],
  ignored: ["quiet", "Ignored"],
  refused: ["bad", "Refused"],
} as const satisfies Record<Delivery["status"], readonly [StatusKind, string]>;

function Outcome({ delivery: { status, reason } }: { delivery: Delivery }) {
  const [kind, words] = statuses[status];
  return (
    <span className={styles["lines"]}>
      <span>
        <Status kind={kind} words={words} />
      </span>
      {reason === null ? null : <span className={styles["reason"]}>{reason}</span>}
    </span>
  );
}

function Project({ delivery: { project_key, received_at, replay_of } }: { delivery: Delivery }) {
  return (
    <span className={styles["lines"]}>
      <span>
        <strong>{project_key ?? "unknown"}</strong> {replay_of === null ? null : <Tag>again</Tag>}
      </span>
      <Quiet isSmall>
        <Time at={received_at} />
      </Quiet>
    </span>
  );
}

function useColumns(onReplay: (delivery: Delivery) => void, isReplaying: boolean): Column<Delivery>[] {
  const { org } = route.useParams();
  const { open } = route.useSearch();
  const navigate = route.useNavigate();
  const refused = useRefusal(org, "POST /integrations/{org}/quality/deliveries/{delivery_id}/replay");
  return [
    { key: "project", head: "Project", cell: (delivery) => <Project delivery={delivery} /> },
    { key: "outcome", head: "What became of it", cell: (delivery) => <Outcome delivery={delivery} /> },
    {
      key: "trail",
      head: "Flow and trail",
      isOptional: true,
      cell: ({ flow_name, trail_name }) =>
        flow_name === null ? (
          <Quiet>none</Quiet>
        ) : (
          <>
            <FlowLink org={org} flow={flow_name} /> /{" "}
            <TrailLink org={org} flow={flow_name} trail={trail_name ?? ""} />
          </>
        ),
    },
    {
      key: "actions",
      head: <span className="visually-hidden">Actions</span>,
      isNumber: true,
      cell: (delivery) => (
        <DeliveryButtons
          words={{
            payload: `Payload for ${delivery.project_key ?? "an unknown project"}`,
            replay: `Replay ${delivery.project_key ?? "an unknown project"}`,
          }}
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

function Opened({ id }: { id: string }) {
  const { org } = route.useParams();
  return <Payload query={useQuery(deliveryQuery(org, id))} />;
}

function NoDeliveries() {
  const { status, project } = route.useSearch();
  const navigate = route.useNavigate();
  if (status === undefined && project === undefined)
    return (
      <Empty
        title="Nothing was delivered yet"
        text="Give the scanner the webhook’s address and its secret, and let it analyse something."
      />
    );
  return (
    <NoMatch
      title="No delivery matches"
      text="None is as the filters say."
      onClear={() => void navigate({ search: {} })}
    />
  );
}

function Filters({ said }: { said: string }) {
  const { status, project } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <FilterBar>
      <SearchField
        label="Project, by whole key"
        value={project ?? ""}
        onSearch={(text) =>
          void navigate({ search: { status, project: text === "" ? undefined : text }, replace: true })
        }
      />
      <Choice
        label="Outcome"
        value={status}
        choices={statusChoices(statuses)}
        onChoose={(chosen) => void navigate({ search: { project, status: chosen } })}
      />
      <output>{said}</output>
    </FilterBar>
  );
}

/** What the quality webhook received, and what became of it. */
export function QualityDeliveries() {
  const { org } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(deliveriesQuery(org, search));
  const replay = useAction("POST /integrations/{org}/quality/deliveries/{delivery_id}/replay");
  const columns = useColumns(
    ({ id }) => replay.mutate({ params: { org, delivery_id: id } }),
    replay.isPending,
  );
  const page = query.data === undefined ? undefined : pageOfHead(query.data, query.data.deliveries);
  return (
    <section aria-label="Deliveries" className={styles["section"]}>
      <h2>Deliveries</h2>
      <Filters said={replay.isSuccess ? "Processed again" : ""} />
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
            below={({ id }) => (id === search.open ? <Opened id={id} /> : null)}
          />
        )}
      </PagedList>
    </section>
  );
}
