import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";

import { commandPlace } from "../../api/place.ts";
import { artifactCommand } from "../../domain/commands.ts";
import { shortWords } from "../../domain/provenance.ts";
import { AuditMenu } from "../../parts/AuditMenu.tsx";
import { Commands } from "../../parts/Commands.tsx";
import { Fingerprint } from "../../parts/Fingerprint.tsx";
import { BelowLoaded, Loaded } from "../../parts/Loaded.tsx";
import { allowListQuery } from "../../parts/queries.ts";
import { PageHead } from "../../shell/PageHead.tsx";
import { Button } from "../../ui/Button.tsx";
import { Empty } from "../../ui/Empty.tsx";
import { Card, Stack } from "../../ui/Layout.tsx";
import { Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import { CheckDialog } from "./CheckDialog.tsx";
import { Flows } from "./Flows.tsx";
import { type ArtifactSearch, type Found, foundQuery, isNothing } from "./queries.ts";
import { Provenance } from "./Provenance.tsx";
import { PictureRoom } from "./PictureRoom.tsx";

const route = getRouteApi("/$org/artifacts/$fingerprint");

function Allowed() {
  const { org, fingerprint } = route.useParams();
  const { data } = useQuery(allowListQuery(org));
  const entries = (data ?? []).filter((entry) => entry.fingerprint === fingerprint);
  if (entries.length === 0) return null;
  return (
    <Card title="On allow-lists">
      <Table
        label="Allow-lists that it is on"
        rows={entries}
        rowKey={({ environment_name, timestamp }) => `${environment_name} ${timestamp}`}
        columns={[
          {
            key: "environment",
            head: "Environment",
            cell: ({ environment_name: env }) => (
              <Link to="/$org/environments/$env" params={{ org, env }}>
                {env}
              </Link>
            ),
          },
          { key: "by", head: "Allowed by", cell: ({ user_name }) => user_name },
          { key: "why", head: "Why", isOptional: true, cell: ({ description }) => description },
          { key: "when", head: "When", cell: ({ timestamp }) => <Time at={timestamp} /> },
        ]}
      />
    </Card>
  );
}

function Unknown({ name }: { name: string }) {
  const { org, fingerprint } = route.useParams();
  return (
    <Empty
      title="No flow knows this artifact"
      text="It was seen running, and nobody has reported where it comes from. The pipeline that builds it reports that."
    >
      <Commands
        label="command that reports the artifact"
        command={artifactCommand(commandPlace(org), { flow_name: undefined, fingerprint, filename: name })}
      />
    </Empty>
  );
}

function Matter({ found }: { found: Found }) {
  const { org, fingerprint } = route.useParams();
  const allowlist = useQuery(allowListQuery(org));
  const { artifacts } = found;
  return (
    <Stack>
      <Provenance org={org} fingerprint={fingerprint}>
        <Flows org={org} title="What is known of it" artifacts={artifacts} />
        <Allowed />
        <BelowLoaded above={[allowlist]}>
          {artifacts.every(({ has_provenance }) => !has_provenance) ? (
            <Unknown name={artifacts[0]?.name ?? "artifact"} />
          ) : null}
        </BelowLoaded>
      </Provenance>
    </Stack>
  );
}

/** An artifact that need not be known to a flow: everything that is known of it, and where it runs. */
export function AnyArtifact() {
  const { org, fingerprint } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(foundQuery(org, fingerprint));
  const check = (change: ArtifactSearch, replace = false): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace, resetScroll: false });
  return (
    <>
      <PageHead
        title={query.data?.artifacts[0]?.name ?? `Artifact ${shortWords(fingerprint)}`}
        about={<Fingerprint value={fingerprint} />}
        actions={
          <>
            <Button icon="policies" onClick={() => check({ check: true })}>
              Check against…
            </Button>
            <AuditMenu downloads={[]} />
          </>
        }
      />
      {isNothing(query.error) ? (
        <Empty
          title="Nothing is known of this fingerprint"
          text="No flow has reported it, and no environment has said that it ran."
        />
      ) : (
        <Loaded query={query} waiting={<PictureRoom />}>
          {(found) => <Matter found={found} />}
        </Loaded>
      )}
      {search.check === true ? (
        <CheckDialog
          org={org}
          fingerprint={fingerprint}
          chosen={search}
          onChoose={(change) => check(change, true)}
          onClose={() => check({ check: undefined, environment: undefined, policy: undefined })}
        />
      ) : null}
    </>
  );
}
