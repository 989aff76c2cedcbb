import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback, useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { pageOfHead } from "../../api/page.ts";
import { commandPlace } from "../../api/place.ts";
import { controlCommand } from "../../domain/rule-commands.ts";
import { Commands } from "../../parts/Commands.tsx";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { PagedList } from "../../parts/PagedList.tsx";
import { PageHead } from "../../shell/PageHead.tsx";
import { Button } from "../../ui/Button.tsx";
import { Empty, NoMatch } from "../../ui/Empty.tsx";
import { Check, Choice, FilterBar, SearchField } from "../../ui/Field.tsx";
import { OneLine, Quiet, Tag, Tags } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import { ControlDialog } from "./ControlDialog.tsx";
import { controlsExport } from "./exports.ts";
import { controlsQuery, type ListedControl } from "./queries.ts";
import { controlTagsQuery } from "./tab-queries.ts";

const route = getRouteApi("/$org/controls");

function useColumns(): Column<ListedControl>[] {
  const { org } = route.useParams();
  const { sort_direction } = route.useSearch();
  const navigate = route.useNavigate();
  const other = sort_direction === "desc" ? undefined : ("desc" as const);
  return [
    {
      key: "name",
      head: "Name",
      sort: {
        direction: sort_direction ?? "asc",
        choose: () =>
          void navigate({ search: (before) => ({ ...before, sort_direction: other, page: undefined }) }),
      },
      cell: ({ identifier, name, description, archived }) => (
        <>
          <Link to="/$org/controls/$control" params={{ org, control: identifier }}>
            <strong>{name}</strong>
          </Link>
          {archived ? (
            <>
              {" "}
              <Tag>archived</Tag>
            </>
          ) : null}
          <Quiet isSmall>
            <OneLine text={description ?? "no description"} />
          </Quiet>
        </>
      ),
    },
    {
      key: "identifier",
      head: "Identifier",
      width: "160px",
      cell: ({ identifier }) => <code>{identifier}</code>,
    },
    {
      key: "version",
      head: "Version",
      isNumber: true,
      isOptional: true,
      width: "90px",
      cell: ({ identifier, version }) => (
        <Link to="/$org/controls/$control" params={{ org, control: identifier }} search={{ tab: "versions" }}>
          {version}
        </Link>
      ),
    },
    { key: "tags", head: "Tags", isOptional: true, cell: ({ tags }) => <Tags tags={tags} /> },
    {
      key: "changed",
      head: "Changed",
      width: "120px",
      cell: ({ created_at }) => <Time at={created_at} />,
    },
  ];
}

function Filters() {
  const { org } = route.useParams();
  const { search = "", tag, archived } = route.useSearch();
  const navigate = route.useNavigate();
  const { data } = useQuery(controlTagsQuery(org));
  const find = useCallback(
    (text: string) =>
      void navigate({
        search: (before) => ({ ...before, search: text === "" ? undefined : text, page: undefined }),
        replace: true,
      }),
    [navigate],
  );
  const choices = data?.tag_choices.map(({ key, value }) => {
    const words = value === "" ? key : `${key}:${value}`;
    return [words, words] as const;
  });
  return (
    <FilterBar>
      <SearchField label="Filter by name or identifier" value={search} onSearch={find} />
      {choices === undefined || choices.length === 0 ? null : (
        <Choice
          label="Tag"
          value={tag}
          choices={choices}
          onChoose={(chosen) =>
            void navigate({ search: (before) => ({ ...before, tag: chosen, page: undefined }) })
          }
        />
      )}
      <Check
        checked={archived === true}
        onChange={(event) => {
          const isOn = event.target.checked ? (true as const) : undefined;
          void navigate({ search: (before) => ({ ...before, archived: isOn, page: undefined }) });
        }}
      >
        Archived
      </Check>
    </FilterBar>
  );
}

function NoControls() {
  const { org } = route.useParams();
  const { search, tag, archived } = route.useSearch();
  const navigate = route.useNavigate();
  if (search !== undefined || tag !== undefined || archived === true)
    return (
      <NoMatch
        title="No control matches"
        text="None of this organization's controls is as the filters say."
        onClear={() => void navigate({ search: {} })}
      />
    );
  return (
    <Empty
      title="No controls yet"
      text="A control is a requirement that somebody decides on. Policies ask for the decision, and here you see which environments enforce it."
    >
      <Commands command={controlCommand(commandPlace(org))} label="command that makes a control" />
    </Empty>
  );
}

function NewControl() {
  const { org } = route.useParams();
  const navigate = route.useNavigate();
  const refused = useRefusal(org, "POST /controls/{org}");
  const [isMaking, make] = useState(false);
  return (
    <>
      <Button look="primary" icon="plus" refused={refused} onClick={() => make(true)}>
        New control
      </Button>
      {isMaking ? (
        <ControlDialog
          org={org}
          control={undefined}
          onSaved={(control) => void navigate({ to: "/$org/controls/$control", params: { org, control } })}
          onClose={() => make(false)}
        />
      ) : null}
    </>
  );
}

/** The list of controls. */
export function Controls() {
  const { org } = route.useParams();
  const navigate = route.useNavigate();
  const search = route.useSearch();
  const query = useQuery(controlsQuery(org, search));
  const columns = useColumns();
  const { data } = query;
  const page = data === undefined ? undefined : pageOfHead(data, data.controls);
  return (
    <>
      <PageHead
        title="Controls"
        actions={
          <>
            <ExportMenu list={controlsExport(org, search)} />
            <NewControl />
          </>
        }
      />
      <Filters />
      <PagedList
        query={query}
        page={page}
        empty={<NoControls />}
        onPage={(number) => void navigate({ search: (before) => ({ ...before, page: number }) })}
      >
        {(rows, isOld) => (
          <Table
            label="Controls"
            columns={columns}
            rows={rows}
            rowKey={({ identifier }) => identifier}
            isOld={isOld}
          />
        )}
      </PagedList>
    </>
  );
}
