import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { useAction } from "../../api/action.ts";
import { addressOf } from "../../api/client.ts";
import { isData, overrideOf } from "../../domain/attestation-data.ts";
import { safeLink } from "../../domain/links.ts";
import { numberWords } from "../../domain/numbers.ts";
import { verdictOfFlag } from "../../domain/verdict.ts";
import { ActionDialog, wrongField } from "../../parts/ActionDialog.tsx";
import { AuditMenu } from "../../parts/AuditMenu.tsx";
import { Commit } from "../../parts/Commit.tsx";
import { Fingerprint } from "../../parts/Fingerprint.tsx";
import { ForeignLink } from "../../parts/ForeignLink.tsx";
import { Loaded } from "../../parts/Loaded.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Button, buttonClass } from "../../ui/Button.tsx";
import { CodeBlock, Copy } from "../../ui/Copy.tsx";
import { Drawer } from "../../ui/Drawer.tsx";
import { Empty } from "../../ui/Empty.tsx";
import { Field } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Facts, Fold, Row } from "../../ui/Layout.tsx";
import { Note } from "../../ui/Note.tsx";
import { Time } from "../../ui/Time.tsx";
import { AttestationData } from "./AttestationData.tsx";
import { type Attestation, attestationQuery, type TrailPlace } from "./queries.ts";
import styles from "./Trails.module.css";

/** The report whose verdict an override replaced, with what it rested on. */
function Original({ place, attestation_id }: { place: TrailPlace; attestation_id: string }) {
  const query = useQuery(attestationQuery(place.org, attestation_id));
  return (
    <section className={styles["part"]} aria-label="What it replaced">
      <h3>
        <Link to="/$org/flows/$flow/trails/$trail" params={place} search={{ attestation_id }}>
          What it replaced
        </Link>
      </h3>
      <Loaded query={query}>
        {({ data: [original] }) =>
          original === undefined ? null : (
            <>
              <Facts
                facts={[
                  ["Verdict", <VerdictMark key="verdict" verdict={verdictOfFlag(original.is_compliant)} />],
                  ["Reported", <Time key="at" at={original.created_at} exact />],
                  ["By", original.reported_by],
                ]}
              />
              <AttestationData org={place.org} attestation={original} hasSummary={false} />
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function Overridden({ place, attestation }: { place: TrailPlace; attestation: Attestation }) {
  const override = overrideOf(attestation);
  if (override === undefined) return null;
  const { reason, original_type, overridden_attestation_id: original } = override;
  return (
    <>
      <Note kind="warn">
        <p>
          <b>Override</b> by {attestation.reported_by}: {reason === "" ? "no reason was given" : reason}
        </p>
        {original === undefined ? (
          <p>Nothing had been reported under this name; it stands for type {original_type}.</p>
        ) : null}
      </Note>
      {original === undefined ? null : <Original place={place} attestation_id={original} />}
    </>
  );
}

function Evidence({ place, attestation }: { place: TrailPlace; attestation: Attestation }) {
  const { evidence, attestation_id, has_audit_package } = attestation;
  const params = {
    org: place.org,
    flow_name: attestation.flow_name,
    trail_name: attestation.trail_name,
    attestation_id,
  };
  if (evidence === null || evidence === undefined) return null;
  return (
    <section className={styles["part"]}>
      <h3>Evidence</h3>
      <Facts
        facts={[
          ["File", evidence.filename],
          ["Size", `${numberWords(evidence.size)} bytes`],
          ["Type", evidence.content_type],
          ["SHA-256", <Fingerprint key="sha" value={evidence.sha256} />],
        ]}
      />
      <Row>
        <a
          className={buttonClass()}
          download
          href={addressOf(
            "GET /attestations/{org}/{flow_name}/trail/{trail_name}/attestation/{attestation_id}/evidence",
            { params },
          )}
        >
          <Icon name="download" />
          Download the file
        </a>
        {has_audit_package ? (
          <AuditMenu
            downloads={[
              {
                words: "Audit package of the attestation",
                href: addressOf(
                  "GET /attestations/{org}/{flow_name}/trail/{trail_name}/attestation/{attestation_id}/audit_package",
                  { params },
                ),
              },
            ]}
          />
        ) : null}
      </Row>
    </section>
  );
}

function OverrideDialog({ place, attestation, onClose }: OverrideProps) {
  const [reason, setReason] = useState("");
  const { attestation_name, attestation_type, artifact_fingerprint, is_compliant } = attestation;
  const override = useAction("POST /attestations/{org}/{flow_name}/trail/{trail_name}/override", onClose);
  const verdict = is_compliant ? "non-compliant" : "compliant";
  const input = {
    params: { org: place.org, flow_name: attestation.flow_name, trail_name: attestation.trail_name },
    body: {
      attestation_name,
      artifact_fingerprint,
      reason,
      new_compliance_status: !is_compliant,
      original_attestation_type: attestation_type,
    },
  };
  return (
    <ActionDialog
      title={`Override ${attestation_name}`}
      submit={`Make it ${verdict}`}
      action={override}
      input={input}
      onClose={onClose}
    >
      <p>
        The verdict becomes <b>{verdict}</b> until another report comes under this name. Who did it and why is
        kept, and shown wherever the verdict counts.
      </p>
      <Field label="Reason" wrong={wrongField(override.error, "reason")}>
        {(tie) => (
          <textarea
            {...tie}
            required
            rows={3}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        )}
      </Field>
    </ActionDialog>
  );
}

interface OverrideProps {
  place: TrailPlace;
  attestation: Attestation;
  onClose: () => void;
}

function About({ attestation }: { attestation: Attestation }) {
  const {
    artifact_fingerprint,
    git_commit_info: commit,
    origin_url,
    external_urls,
    annotations,
  } = attestation;
  const links = Object.entries(external_urls ?? {});
  return (
    <Facts
      facts={[
        ["Reported", <Time key="at" at={attestation.created_at} exact />],
        ["By", attestation.reported_by],
        ["Type", attestation.attestation_type],
        ["Description", attestation.description],
        [
          "Artifact",
          artifact_fingerprint === null ? undefined : (
            <Fingerprint key="artifact" value={artifact_fingerprint} />
          ),
        ],
        ["Commit", commit === null ? undefined : <Commit key="commit" sha={commit.sha1} url={commit.url} />],
        [
          "Origin",
          safeLink(origin_url) === undefined ? origin_url : <ForeignLink key="from" address={origin_url} />,
        ],
        ...links.map(
          ([name, { href }]) =>
            [
              name,
              <ForeignLink key={name} address={href}>
                {href}
              </ForeignLink>,
            ] as const,
        ),
        ...Object.entries(annotations ?? {}),
        ["Id", <Copy key="id" text={attestation.attestation_id} what="id of the attestation" />],
      ]}
    />
  );
}

function Shown({ place, attestation }: { place: TrailPlace; attestation: Attestation }) {
  const [isOverriding, setOverriding] = useState(false);
  const refused = useRefusal(place.org, "POST /attestations/{org}/{flow_name}/trail/{trail_name}/override");
  return (
    <>
      <Row>
        <VerdictMark verdict={verdictOfFlag(attestation.is_compliant)} isPill />
        <span className={styles["push"]}>
          <Button refused={refused} onClick={() => setOverriding(true)}>
            Override…
          </Button>
        </span>
      </Row>
      <About attestation={attestation} />
      <Overridden place={place} attestation={attestation} />
      <AttestationData org={place.org} attestation={attestation} />
      <Evidence place={place} attestation={attestation} />
      {isData(attestation.user_data) && Object.keys(attestation.user_data).length > 0 ? (
        <Fold title="User data">
          <CodeBlock text={JSON.stringify(attestation.user_data, null, 2)} label="user data" />
        </Fold>
      ) : null}
      <Fold title="JSON">
        <CodeBlock text={JSON.stringify(attestation, null, 2)} label="attestation as JSON" />
      </Fold>
      {isOverriding ? (
        <OverrideDialog place={place} attestation={attestation} onClose={() => setOverriding(false)} />
      ) : null}
    </>
  );
}

interface PanelProps {
  place: TrailPlace;
  attestation_id: string;
  onClose: () => void;
}

/** An attestation beside the trail it was reported on: verdict, who said so, and what it rests on. */
export function AttestationPanel({ place, attestation_id, onClose }: PanelProps) {
  const query = useQuery(attestationQuery(place.org, attestation_id));
  const attestation = query.data?.data[0];
  return (
    <Drawer title={attestation?.attestation_name ?? "Attestation"} kind="Attestation" onClose={onClose}>
      <Loaded query={query} waiting={<div className={styles["waiting"]} aria-busy="true" />}>
        {({ data: [found] }) =>
          found === undefined ? (
            <Empty
              title="There is no such attestation"
              text="None of this organization's attestations has the id in the address."
            />
          ) : (
            <Shown key={found.attestation_id} place={place} attestation={found} />
          )
        }
      </Loaded>
    </Drawer>
  );
}
