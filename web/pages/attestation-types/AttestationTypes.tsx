import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback } from "react";

import { commandPlace } from "../../api/place.ts";
import { attestationTypeCommand } from "../../domain/rule-commands.ts";
import { Commands } from "../../parts/Commands.tsx";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { MakeLink } from "../../parts/MakeLink.tsx";
import { OrByCommand } from "../../parts/NewThing.tsx";
import { ownTypesQuery } from "../../parts/queries.ts";
import { PageHead } from "../../shell/PageHead.tsx";
import { Empty, NoMatch } from "../../ui/Empty.tsx";
import { FilterBar, SearchField } from "../../ui/Field.tsx";
import { OneLine, Quiet } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import { typesExport } from "./exports.ts";
import { type AttestationType } from "./queries.ts";

const route = getRouteApi("/$org/attestation-types");

/** Says in words by what a version judges. */
function judgedBy({ versions: [latest] }: AttestationType): string {
  if (latest === undefined) return "nothing yet";
  const rules = latest.evaluator.content_type === "jq" ? latest.evaluator.rules.length : 0;
  const parts = [
    ...(latest.type_schema === null ? [] : ["schema"]),
    ...(rules === 0 ? [] : [rules === 1 ? "1 rule" : `${rules} rules`]),
  ];
  return parts.length === 0 ? "nothing: any data comply" : parts.join(", ");
}

function columnsFor(org: string): Column<AttestationType>[] {
  return [
    {
      key: "name",
      head: "Name",
      cell: ({ name, description }) => (
        <>
          <Link to="/$org/attestation-types/$type" params={{ org, type: name }}>
            <strong>{name}</strong>
          </Link>
          <Quiet isSmall>
            <OneLine text={description ?? "no description"} />
          </Quiet>
        </>
      ),
    },
    { key: "judged", head: "Judged by", isOptional: true, width: "200px", cell: (type) => judgedBy(type) },
    {
      key: "version",
      head: "Version",
      isNumber: true,
      isOptional: true,
      width: "90px",
      cell: ({ versions }) => versions[0]?.version ?? 0,
    },
    {
      key: "changed",
      head: "Changed",
      width: "120px",
      cell: ({ last_modified_at }) => <Time at={last_modified_at} />,
    },
    {
      key: "by",
      head: "By",
      isOptional: true,
      width: "160px",
      cell: ({ created_by, versions }) => versions[0]?.created_by ?? created_by,
    },
  ];
}

function NoTypes({ org }: { org: string }) {
  return (
    <Empty
      title="No attestation types yet"
      text="A type of your own says which data an attestation has, when they comply, and what is shown of them."
    >
      <OrByCommand>
        <MakeLink org={org} page="types" />
      </OrByCommand>
      <Commands
        command={attestationTypeCommand(commandPlace(org), "coverage")}
        label="command that makes a type"
      />
    </Empty>
  );
}

function Listed({ types }: { types: readonly AttestationType[] | undefined }) {
  const { org } = route.useParams();
  const { q = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const search = useCallback(
    (text: string) => void navigate({ search: { q: text === "" ? undefined : text }, replace: true }),
    [navigate],
  );
  const shown = types?.filter(({ name, description = "" }) =>
    `${name} ${description}`.toLowerCase().includes(q.toLowerCase()),
  );
  return (
    <>
      <FilterBar>
        <SearchField label="Filter by name or description" value={q} onSearch={search} />
        {shown === undefined ? null : <ExportMenu list={typesExport(org, shown)} />}
      </FilterBar>
      {shown?.length === 0 ? (
        <NoMatch
          title="No type matches"
          text="None that is in use has this in its name or description."
          onClear={() => void navigate({ search: {} })}
        >
          <p>
            <Quiet isSmall>
              Archived ones stand under their names:{" "}
              <Link to="/$org/attestation-types/$type" params={{ org, type: q }}>
                {q}
              </Link>
            </Quiet>
          </p>
        </NoMatch>
      ) : (
        <Table
          label="Attestation types"
          columns={columnsFor(org)}
          rows={shown}
          rowKey={({ name }) => name}
          expectedRows={4}
        />
      )}
    </>
  );
}

/** The list of the organization's own types of attestations. */
export function AttestationTypes() {
  const { org } = route.useParams();
  const { q } = route.useSearch();
  const query = useQuery(ownTypesQuery(org));
  const { data, error } = query;
  return (
    <>
      <PageHead title="Attestation types" actions={<MakeLink org={org} page="types" />} />
      {error !== null && data === undefined ? (
        <FailedToRead error={error} retry={() => void query.refetch()} />
      ) : data?.length === 0 && q === undefined ? (
        <NoTypes org={org} />
      ) : (
        <Listed types={data} />
      )}
    </>
  );
}
