import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createLinks } from "../../lib/links.ts";
import { environmentTriggers, flowTriggers } from "../actions.ts";
import { describeOccurrence, eventTypeOf } from "./describe.ts";
import { mailBody, slackBody, webhookBody } from "./message.ts";
import type { OccurrenceRecord } from "./occurrence.ts";
import { retryDelay } from "./retry.ts";
import { printSigningSecret, signatureHeaders } from "./signature.ts";

const context = { org: "acme", links: createLinks("https://w.test") };
const fingerprint = "a".repeat(64);

function inEnvironment(trigger: string, facts: OccurrenceRecord["facts"]): OccurrenceRecord {
  return { trigger, subject: { kind: "environment", name: "prod" }, at: 1_787_150_398.6, facts };
}

function inFlow(trigger: string, facts: OccurrenceRecord["facts"]): OccurrenceRecord {
  return { trigger, subject: { kind: "flow", name: "web" }, at: 1_787_150_398, facts };
}

const provenance = {
  flow: "web",
  trail: "run",
  status: "COMPLIANT",
  commit: "c".repeat(40),
  commit_url: "https://git.test/c",
  build_url: "https://ci.test/1",
};
const started = inEnvironment("ON_STARTED_ARTIFACT", {
  snapshot: { index: 12, compliant: false },
  artifact: { name: "web:1.4", fingerprint, provenance },
});

describe("webhookBody", () => {
  it("is payload version 1.0 of an environment's event", () => {
    expect(webhookBody(started, context)).toEqual({
      version: "1.0",
      timestamp: "1787150398.6",
      org: "acme",
      environment: "prod",
      event_type: "ARTIFACT_STARTED",
      description: "Artifact web:1.4 started in environment prod",
      snapshot: {
        index: "12",
        status: "NON-COMPLIANT",
        html_url: "https://w.test/acme/environments/prod/snapshots/12",
        api_url: "https://w.test/api/v2/snapshots/acme/prod/12",
      },
      artifact: {
        name: "web:1.4",
        fingerprint,
        provenance: {
          flow: "web",
          status: "COMPLIANT",
          commit: "c".repeat(40),
          commit_url: "https://git.test/c",
          html_url: `https://w.test/acme/flows/web/artifacts/${fingerprint}`,
          api_url: `https://w.test/api/v2/artifacts/acme/web/fingerprint/${fingerprint}`,
          build_url: "https://ci.test/1",
        },
      },
    });
  });

  it.each([
    [true, "COMPLIANT"],
    [false, "NON-COMPLIANT"],
    [null, "UNKNOWN"],
  ])("says of a snapshot that is %s: %s", (compliant, status) => {
    const occurrence = inEnvironment("ON_COMPLIANT_ENV", { snapshot: { index: 1, compliant } });
    expect(webhookBody(occurrence, context)).toMatchObject({ snapshot: { index: "1", status } });
  });

  it("leaves out what does not belong to the event, and has null for an unknown origin", () => {
    const body = webhookBody(
      inEnvironment("ON_ALLOWED_ARTIFACT", { artifact: { name: "a", fingerprint } }),
      context,
    );
    expect(body).not.toHaveProperty("snapshot");
    expect(body["artifact"]).toEqual({ name: "a", fingerprint, provenance: null });
  });

  it("tells of flows with the trail, the artifact and the attestation", () => {
    const trail = { name: "run", status: "INCOMPLETE" };
    const attestation = { id: "id-1", name: "unit", type: "junit", is_compliant: true };
    const onTrail = webhookBody(inFlow("ON_ATTESTATION", { trail, attestation }), context);
    const trailUrls = {
      html_url: "https://w.test/acme/flows/web/trails/run",
      api_url: "https://w.test/api/v2/trails/acme/web/run",
    };
    expect(onTrail).toEqual({
      version: "1.0",
      timestamp: "1787150398",
      org: "acme",
      flow: "web",
      event_type: "ATTESTATION_REPORTED",
      description: "Attestation unit (compliant) was reported on trail run of flow web",
      trail: { ...trail, ...trailUrls },
      attestation: {
        ...attestation,
        html_url: `${trailUrls.html_url}?attestation_id=id-1`,
        api_url: "https://w.test/api/v2/attestations/acme/web/trail/run/unit",
      },
    });
    const artifact = { name: "web", fingerprint };
    const onArtifact = webhookBody(inFlow("ON_ATTESTATION", { trail, attestation, artifact }), context);
    expect(onArtifact).toMatchObject({
      artifact: { name: "web", html_url: `https://w.test/acme/flows/web/artifacts/${fingerprint}` },
      attestation: {
        api_url: `https://w.test/api/v2/attestations/acme/web/artifact/${fingerprint}/unit`,
      },
    });
  });
});

describe("describeOccurrence", () => {
  it("has a sentence and a type of its own for everything that fires", () => {
    const silent = new Set(["ON_SCALED_ARTIFACT", "ON_APPROVAL", "ON_RELEASE"]);
    const firing = [...environmentTriggers, ...flowTriggers].filter((trigger) => !silent.has(trigger));
    const facts = { artifact: { name: "web", fingerprint }, trail: { name: "run", status: "COMPLIANT" } };
    const texts = firing.map((trigger) => describeOccurrence(inEnvironment(trigger, facts)));
    expect(new Set(texts).size).toBe(firing.length);
    expect(new Set(firing.map(eventTypeOf)).size).toBe(firing.length);
    for (const text of texts) expect(text).toMatch(/^[A-Z].*\bprod\b/);
  });

  it("makes do with what it is told", () => {
    for (const trigger of [...environmentTriggers, ...flowTriggers])
      expect(describeOccurrence(inFlow(trigger, {}))).toContain("web");
  });
});

describe("messages for people", () => {
  const hostile = `<script>"&'|</script>\r\nBcc: x@y.test`;
  const occurrence = inEnvironment("ON_STARTED_ARTIFACT", {
    snapshot: { index: 3, compliant: null },
    artifact: { name: hostile, fingerprint },
  });

  it("escape what users named for chat", () => {
    const { text } = slackBody(occurrence, context);
    expect(text).not.toMatch(/<script|<\/script/);
    expect(text).toContain("&lt;script&gt;");
    expect(text).toContain("<https://w.test/acme/environments/prod/snapshots/3|#3 (UNKNOWN)>");
  });

  it("escape what users named for mail, and keep the subject in one line", () => {
    const { subject, text, html } = mailBody(occurrence, context);
    expect(subject).not.toMatch(/[\r\n]/);
    expect(subject).toMatch(/^\[acme\] Artifact /);
    expect(html).not.toMatch(/<script|<\/script/);
    expect(html).toContain("&lt;script&gt;&quot;&amp;&#39;|&lt;/script&gt;");
    expect(text).toContain("https://w.test/acme/environments/prod/snapshots/3");
  });

  it("link to an artifact's flow when it is known", () => {
    const url = `https://w.test/acme/flows/web/artifacts/${fingerprint}`;
    expect(slackBody(started, context).text).toContain(`<${url}|web:1.4`);
    expect(mailBody(started, context).html).toContain(`href="${url}"`);
  });
});

describe("retryDelay", () => {
  it("waits longer and longer, at most two hours, and gives up after a day", () => {
    let age = 0;
    const delays: number[] = [];
    for (let attempts = 1; ; attempts += 1) {
      const delay = retryDelay(attempts);
      if (delay === undefined) break;
      delays.push(delay);
      age += delay;
    }
    expect(delays.slice(0, 4)).toEqual([10, 20, 40, 80]);
    expect(delays.toSorted((a, b) => a - b)).toEqual(delays);
    expect(delays.at(-1)).toBe(7200);
    expect(age).toBeGreaterThan(22 * 3600);
    expect(age).toBeLessThanOrEqual(24 * 3600);
  });

  it("is a sane number or an end, after any number of attempts", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e6 }), (attempts) => {
        const delay = retryDelay(attempts);
        if (delay === undefined) expect(attempts).toBeGreaterThan(20);
        else expect(delay >= 10 && delay <= 7200).toBe(true);
      }),
    );
  });
});

describe("signatureHeaders", () => {
  it("signs as the specification's example does", () => {
    const key = Buffer.from("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "base64");
    const message = {
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      timestamp: 1_614_265_330,
      body: '{"test": 2432232314}',
    };
    expect(signatureHeaders(message, [key])).toEqual({
      "webhook-id": message.id,
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    });
    expect(printSigningSecret(key)).toBe("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  });

  it("has one signature for each key", () => {
    const message = { id: "x", timestamp: 1, body: "{}" };
    const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const both = signatureHeaders(message, [one, two])["webhook-signature"].split(" ");
    expect(both).toHaveLength(2);
    expect(both[1]).toBe(signatureHeaders(message, [two])["webhook-signature"]);
    expect(both[0]).not.toBe(both[1]);
  });
});
