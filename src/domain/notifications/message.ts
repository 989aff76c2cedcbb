import type { Links } from "../../lib/links.ts";
import { describeOccurrence, eventTypeOf } from "./describe.ts";
import type { ArtifactFacts, OccurrenceFacts, OccurrenceRecord } from "./occurrence.ts";

/** Whose occurrence it is, and where its links lead. */
export interface MessageContext {
  org: string;
  links: Links;
}

interface Urls {
  html_url: string;
  api_url: string;
}

function urls({ links, org }: MessageContext, html: string, api: string): Urls {
  return { html_url: links.web(`/${org}${html}`), api_url: links.api(api) };
}

function snapshotUrls(context: MessageContext, environment: string, index: number): Urls {
  const api = `/snapshots/${context.org}/${environment}/${index}`;
  return urls(context, `/environments/${environment}/snapshots/${index}`, api);
}

function trailUrls(context: MessageContext, flow: string, trail: string): Urls {
  return urls(context, `/flows/${flow}/trails/${trail}`, `/trails/${context.org}/${flow}/${trail}`);
}

function artifactUrls(context: MessageContext, flow: string, fingerprint: string): Urls {
  const api = `/artifacts/${context.org}/${flow}/fingerprint/${fingerprint}`;
  return urls(context, `/flows/${flow}/artifacts/${fingerprint}`, api);
}

function statusText(compliant: boolean | null): string {
  if (compliant === null) return "UNKNOWN";
  return compliant ? "COMPLIANT" : "NON-COMPLIANT";
}

function runningArtifact(context: MessageContext, { name, fingerprint, provenance }: ArtifactFacts) {
  if (provenance === null || provenance === undefined) return { name, fingerprint, provenance: null };
  const { flow, status, commit, commit_url, build_url } = provenance;
  const where = artifactUrls(context, flow, fingerprint);
  return { name, fingerprint, provenance: { flow, status, commit, commit_url, ...where, build_url } };
}

function attestationUrls(context: MessageContext, flow: string, facts: OccurrenceFacts): Urls | undefined {
  const { attestation, trail, artifact } = facts;
  if (attestation === undefined || trail === undefined) return undefined;
  const place = artifact === undefined ? `trail/${trail.name}` : `artifact/${artifact.fingerprint}`;
  const html = `/flows/${flow}/trails/${trail.name}?attestation_id=${attestation.id}`;
  return urls(context, html, `/attestations/${context.org}/${flow}/${place}/${attestation.name}`);
}

function environmentPart(context: MessageContext, environment: string, facts: OccurrenceFacts) {
  const { snapshot, artifact } = facts;
  return {
    environment,
    ...(snapshot === undefined
      ? {}
      : {
          snapshot: {
            index: String(snapshot.index),
            status: statusText(snapshot.compliant),
            ...snapshotUrls(context, environment, snapshot.index),
          },
        }),
    ...(artifact === undefined ? {} : { artifact: runningArtifact(context, artifact) }),
  };
}

function flowPart(context: MessageContext, flow: string, facts: OccurrenceFacts) {
  const { trail, artifact, attestation } = facts;
  return {
    flow,
    ...(trail === undefined ? {} : { trail: { ...trail, ...trailUrls(context, flow, trail.name) } }),
    ...(artifact === undefined
      ? {}
      : {
          artifact: {
            name: artifact.name,
            fingerprint: artifact.fingerprint,
            ...artifactUrls(context, flow, artifact.fingerprint),
          },
        }),
    ...(attestation === undefined
      ? {}
      : { attestation: { ...attestation, ...attestationUrls(context, flow, facts) } }),
  };
}

/** Writes the body of a webhook, payload version 1.0 (domain 2.17). Timestamp and index are texts there. */
export function webhookBody(occurrence: OccurrenceRecord, context: MessageContext): Record<string, unknown> {
  const { trigger, subject, at, facts } = occurrence;
  const part = subject.kind === "environment" ? environmentPart : flowPart;
  return {
    version: "1.0",
    timestamp: String(at),
    org: context.org,
    event_type: eventTypeOf(trigger),
    description: describeOccurrence(occurrence),
    ...part(context, subject.name, facts),
  };
}

/** One line of a message for people: what it is, what it says, where it leads. */
interface Line {
  label: string;
  text: string;
  url?: string;
}

function linesOf({ subject, at, facts }: OccurrenceRecord, context: MessageContext): Line[] {
  const { snapshot, artifact, trail, attestation } = facts;
  const isFlow = subject.kind === "flow";
  const flow = isFlow ? subject.name : artifact?.provenance?.flow;
  const lines: (Line | false | undefined)[] = [
    { label: "Organization", text: context.org },
    { label: isFlow ? "Flow" : "Environment", text: subject.name },
    snapshot && {
      label: "Snapshot",
      text: `#${snapshot.index} (${statusText(snapshot.compliant)})`,
      url: snapshotUrls(context, subject.name, snapshot.index).html_url,
    },
    trail && {
      label: "Trail",
      text: `${trail.name} (${trail.status})`,
      url: trailUrls(context, subject.name, trail.name).html_url,
    },
    artifact && {
      label: "Artifact",
      text: `${artifact.name} (${artifact.fingerprint})`,
      ...(flow === undefined ? {} : { url: artifactUrls(context, flow, artifact.fingerprint).html_url }),
    },
    attestation && {
      label: "Attestation",
      text: `${attestation.name}, ${attestation.type}: ${statusText(attestation.is_compliant)}`,
    },
    { label: "Time", text: new Date(at * 1000).toISOString() },
  ];
  return lines.filter((line) => line !== undefined && line !== false);
}

/** Escapes the three characters that Slack reads as markup, wherever they stand. */
function escapeSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Writes the body for an incoming webhook of Slack, and of what understands a plain `text` as well. */
export function slackBody(occurrence: OccurrenceRecord, context: MessageContext): { text: string } {
  const lines = linesOf(occurrence, context).map(({ label, text, url }) =>
    url === undefined
      ? `${label}: ${escapeSlack(text)}`
      : `${label}: <${escapeSlack(url)}|${escapeSlack(text).replaceAll("|", "¦")}>`,
  );
  return { text: [escapeSlack(describeOccurrence(occurrence)), ...lines].join("\n") };
}

/** Writes a text so that HTML shows it. */
export function escapeHtml(text: string): string {
  return escapeSlack(text).replaceAll('"', "&quot;").replaceAll("'", "&#39;");
}

/** A message by e-mail, as text and as HTML. */
export interface MailBody {
  subject: string;
  text: string;
  html: string;
}

/** Writes a message for people to read by e-mail. */
export function mailBody(occurrence: OccurrenceRecord, context: MessageContext): MailBody {
  const title = describeOccurrence(occurrence);
  const lines = linesOf(occurrence, context);
  const plain = lines.map(
    ({ label, text, url }) => `${label}: ${text}${url === undefined ? "" : `\n  ${url}`}`,
  );
  const rows = lines.map(({ label, text, url }) => {
    const shown = escapeHtml(text);
    const cell = url === undefined ? shown : `<a href="${escapeHtml(url)}">${shown}</a>`;
    return `<tr><th align="left">${label}</th><td>${cell}</td></tr>`;
  });
  return {
    subject: `[${context.org}] ${title}`.replace(/\s+/g, " "),
    text: `${title}.\n\n${plain.join("\n")}\n`,
    html: `<p>${escapeHtml(title)}.</p><table>${rows.join("")}</table>`,
  };
}
