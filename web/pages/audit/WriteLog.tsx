import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { pageOfHead } from "../../api/page.ts";
import { plainWords } from "../../domain/words.ts";
import { Fingerprint } from "../../parts/Fingerprint.tsx";
import { PagedList } from "../../parts/PagedList.tsx";
import { Button } from "../../ui/Button.tsx";
import { Copy } from "../../ui/Copy.tsx";
import { Choice, FilterBar, SearchField } from "../../ui/Field.tsx";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { Quiet } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import styles from "./AuditLog.module.css";
import { Chooses, DayFilters, NoEntries, useFilter } from "./filters.tsx";
import { type Write, writesQuery } from "./queries.ts";

const route = getRouteApi("/$org/audit-log");

const actorKinds = {
  user: ["user", "person"],
  service_account: ["terminal", "service account"],
  integration: ["integrations", "integration"],
  system: ["settings", "server"],
} as const satisfies Record<Write["actor_kind"], readonly [IconName, string]>;

type ExactFilter = "action" | "resource";

/** A filter that was chosen from a row, and can be taken off. */
function Chosen({ name, words }: { name: ExactFilter; words: string }) {
  const value = route.useSearch()[name];
  const filter = useFilter();
  if (value === undefined) return null;
  return (
    <span className={styles["exact"]}>
      {words}: {value}
      <Button
        look="quiet"
        icon="close"
        aria-label={`Any ${words}`}
        onClick={() => filter({ [name]: undefined })}
      />
    </span>
  );
}

function Who({ entry: { actor, actor_kind } }: { entry: Write }) {
  const [icon, words] = actorKinds[actor_kind];
  return (
    <span className={styles["who"]}>
      <Icon name={icon} size={14} />
      <span className="visually-hidden">{words}</span>
      <Chooses change={{ actor }}>
        <strong>{actor}</strong>
      </Chooses>
    </span>
  );
}

const firstOf = (id: string): string => id.slice(0, 8);

const columns: Column<Write>[] = [
  { key: "who", head: "Who", cell: (entry) => <Who entry={entry} /> },
  {
    key: "did",
    head: "Did",
    cell: ({ action }) => (
      <Chooses change={{ action }}>
        <code>{action}</code>
      </Chooses>
    ),
  },
  {
    key: "what",
    head: "To what",
    cell: ({ resource, resource_type }) => (
      <>
        <Chooses change={{ type: resource_type, resource }}>{resource}</Chooses>
        <div>
          <Chooses change={{ type: resource_type }}>
            <Quiet isSmall>{resource_type.replaceAll("_", " ")}</Quiet>
          </Chooses>
        </div>
      </>
    ),
  },
  {
    key: "from",
    head: "From",
    isOptional: true,
    cell: ({ address }) => (address === null ? <Quiet>not known</Quiet> : <Quiet>{address}</Quiet>),
  },
  {
    key: "key",
    head: "By key",
    isOptional: true,
    cell: ({ api_key_id }) =>
      api_key_id === null ? (
        <Quiet>none</Quiet>
      ) : (
        <Copy text={api_key_id} shown={api_key_id.slice(-8)} what="key id" />
      ),
  },
  {
    key: "request",
    head: "Request",
    isOptional: true,
    cell: ({ request_id }) => <Copy text={request_id} shown={firstOf(request_id)} what="request id" />,
  },
  {
    key: "body",
    head: "Body’s digest",
    isOptional: true,
    cell: ({ request_digest }) =>
      request_digest === null ? <Quiet>no body</Quiet> : <Fingerprint value={request_digest} />,
  },
  { key: "seq", head: "No.", isNumber: true, isOptional: true, cell: ({ seq }) => <Quiet>{seq}</Quiet> },
];

/** Kinds of things that are written, the rules first: who changed those is what the log is asked most. */
const kinds: readonly string[] = [
  "policy",
  "control",
  "custom_attestation_type",
  "allowlist",
  "member",
  "service_account",
  "api_key",
  "action",
  "integration",
  "organization",
  "space",
  "environment",
  "snapshot",
  "flow",
  "trail",
  "artifact",
  "attestation",
  "repo",
  "quality_delivery",
];
const kindWords: Readonly<Record<string, string>> = {
  allowlist: "Allow-list",
  api_key: "API key",
  custom_attestation_type: "Attestation type",
};

function wordsOf(kind: string): string {
  return kindWords[kind] ?? plainWords(kind);
}

function Filters() {
  const { actor, type } = route.useSearch();
  const filter = useFilter();
  const known = type === undefined || kinds.includes(type) ? kinds : [type, ...kinds];
  const navigate = route.useNavigate();
  return (
    <FilterBar>
      <SearchField
        label="Who, by whole name"
        value={actor ?? ""}
        onSearch={(text) =>
          void navigate({
            search: (before) => ({ ...before, actor: text === "" ? undefined : text, page: undefined }),
            replace: true,
          })
        }
      />
      <Choice<string>
        label="Kind"
        value={type}
        choices={known.map((one) => [one, wordsOf(one)] as const)}
        onChoose={(chosen) => filter({ type: chosen })}
      />
      <DayFilters />
      <Chosen name="action" words="did" />
      <Chosen name="resource" words="what" />
    </FilterBar>
  );
}

/** The column of times, which chooses whether the log begins with its end or its beginning. */
function useWhen(): Column<Write> {
  const { direction = "desc" } = route.useSearch();
  const filter = useFilter();
  return {
    key: "when",
    head: "When",
    width: "170px",
    sort: { direction, choose: () => filter({ direction: direction === "desc" ? "asc" : undefined }) },
    cell: ({ occurred_at }) => <Time at={occurred_at} exact />,
  };
}

/** Every write: who did what to what, with what identifies the request. */
export function WriteLog() {
  const { org } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const when = useWhen();
  const query = useQuery(writesQuery(org, search));
  const { data } = query;
  const page = data === undefined ? undefined : pageOfHead(data, data.entries);
  return (
    <>
      <Filters />
      <PagedList
        query={query}
        page={page}
        empty={<NoEntries title="Nothing was written yet" />}
        onPage={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
      >
        {(rows, isOld) => (
          <Table
            label="Writes"
            columns={[when, ...columns]}
            rows={rows}
            rowKey={({ seq }) => String(seq)}
            isOld={isOld}
          />
        )}
      </PagedList>
    </>
  );
}
