import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";

import { addressOf } from "../../api/client.ts";
import { trailTitle } from "../../domain/trail-search.ts";
import { verdictOfText } from "../../domain/verdict.ts";
import { AuditMenu } from "../../parts/AuditMenu.tsx";
import { FailedToRead, Loaded } from "../../parts/Loaded.tsx";
import { SmallestFix } from "../../parts/Requirements.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Crumb, PageHead } from "../../shell/PageHead.tsx";
import { Card, Quiet, Split, Stack } from "../../ui/Layout.tsx";
import { Note } from "../../ui/Note.tsx";
import { Time } from "../../ui/Time.tsx";
import { AttestationPanel } from "./AttestationPanel.tsx";
import { Checklist } from "./Checklist.tsx";
import { explanationQuery, oneTrailQuery, type Trail as TrailAnswer, type TrailPlace } from "./queries.ts";
import { TrailArtifacts } from "./TrailArtifacts.tsx";
import { TrailEvents } from "./TrailEvents.tsx";
import { TrailFacts } from "./TrailFacts.tsx";
import styles from "./Trails.module.css";

const route = getRouteApi("/$org/flows/$flow/trails/$trail");

const asksForNothing = ({ template: { trail } }: TrailAnswer): boolean =>
  trail.attestations.length === 0 && trail.artifacts.length === 0;

function Audit({ place: { org, flow, trail } }: { place: TrailPlace }) {
  const params = { org, flow_name: flow, trail_name: trail };
  return (
    <AuditMenu
      downloads={[
        {
          words: "PDF",
          href: addressOf("GET /trails/{org}/{flow_name}/{trail_name}/audit_pdf", { params }),
        },
        {
          words: "Audit package",
          href: addressOf("GET /trails/{org}/{flow_name}/{trail_name}/audit_package", { params }),
        },
      ]}
    />
  );
}

function Head({ place, trail }: { place: TrailPlace; trail: TrailAnswer | undefined }) {
  const { org, flow } = place;
  return (
    <PageHead
      title={trailTitle(place.trail)}
      whole={place.trail}
      crumbs={
        <>
          <Crumb>
            <Link to="/$org/flows" params={{ org }}>
              Flows
            </Link>
          </Crumb>
          <Crumb>
            <Link to="/$org/flows/$flow" params={{ org, flow }}>
              {flow}
            </Link>
          </Crumb>
        </>
      }
      verdict={
        trail === undefined ? null : <VerdictMark verdict={verdictOfText(trail.compliance_state)} isPill />
      }
      about={
        trail === undefined ? (
          <span>&nbsp;</span>
        ) : (
          <>
            {trail.description === "" ? null : <span>{trail.description}</span>}
            <span>
              begun <Time at={trail.created_at} /> by {trail.created_by}
            </span>
            <span>
              last report <Time at={trail.last_modified_at} />
            </span>
          </>
        )
      }
      actions={<Audit place={place} />}
    />
  );
}

function WhyCard({ place, trail }: { place: TrailPlace; trail: TrailAnswer }) {
  const query = useQuery(explanationQuery(place));
  return (
    <Card title="What it needs" aside={<Quiet isSmall>{query.data?.summary ?? ""}</Quiet>}>
      <Loaded query={query} waiting={<div className={styles["waiting"]} aria-busy="true" />}>
        {({ requirements, proposed_reports }) => (
          <Stack>
            {asksForNothing(trail) ? (
              <Note>
                The template of this trail asks for nothing. It complies as long as nothing that is reported
                fails.
              </Note>
            ) : null}
            <SmallestFix
              org={place.org}
              flow_name={place.flow}
              trail_name={place.trail}
              proposed_reports={proposed_reports}
            />
            {requirements.length === 0 ? null : <Checklist requirements={requirements} />}
          </Stack>
        )}
      </Loaded>
    </Card>
  );
}

/** A trail: whether it has what it needs, what it made and where that runs, and what happened to it. */
export function Trail() {
  const place = route.useParams();
  const { attestation_id } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(oneTrailQuery(place));
  const { data: trail, error } = query;
  return (
    <>
      <Head place={place} trail={trail} />
      {error !== null && trail === undefined ? (
        <FailedToRead error={error} retry={() => void query.refetch()} />
      ) : trail === undefined ? (
        <div className={styles["waiting"]} aria-busy="true" />
      ) : (
        <Split>
          <Stack>
            <WhyCard place={place} trail={trail} />
            <TrailArtifacts org={place.org} trail={trail} />
            <TrailEvents place={place} events={trail.events} />
          </Stack>
          <TrailFacts trail={trail} />
        </Split>
      )}
      {attestation_id === undefined ? null : (
        <AttestationPanel
          key={place.trail}
          place={place}
          attestation_id={attestation_id}
          onClose={() => void navigate({ search: {}, resetScroll: false })}
        />
      )}
    </>
  );
}
