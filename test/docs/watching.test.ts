import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";

import { createSource } from "../../src/http/replica-reads.ts";
import { startTestApp, type TestApp } from "../support/app.ts";

const root = join(import.meta.dirname, "..", "..");
const share = (path: string): string => join(root, "share", path);
const read = (path: string): string => readFileSync(join(root, path), "utf8");

interface Rule {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook_url: string };
}

interface Panel {
  id: number;
  type: string;
  title: string;
  datasource?: { type: string; uid: string };
  targets?: { refId: string; expr: string; datasource: { type: string; uid: string } }[];
  gridPos: { x: number; y: number; w: number; h: number };
}

interface Dashboard {
  uid: string;
  panels: Panel[];
  templating: { list: { name: string; type: string }[] };
}

const rules = (parse(read("share/prometheus/rules.yml")) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const dashboard = JSON.parse(read("share/grafana/waybill.json")) as Dashboard;
const targets = dashboard.panels.flatMap((panel) => panel.targets ?? []);

/** Metrics of what a new installation has not done, or was not told to do. */
const shownLater = [
  "waybill_backup_last_success_timestamp_seconds",
  "waybill_backup_duration_seconds",
  "waybill_backup_bytes",
  "waybill_restore_drill_last_success_timestamp_seconds",
  "waybill_wal_archive_last_success_timestamp_seconds",
  "waybill_wal_archive_failing",
  "waybill_audit_export_lag_seconds",
  "waybill_tls_certificate_expiry_timestamp_seconds",
  "waybill_tls_certificate_refused",
];

/** Names of metrics in an expression; what Prometheus itself adds about what it scrapes is not among them. */
function metricsIn(expression: string): string[] {
  return expression.match(/\b(?:waybill|nodejs|process)_[a-z0-9_]+/g) ?? [];
}

/** Anchors that headings of a page have. */
function anchorsOf(page: string): Set<string> {
  const headings = Array.from(page.matchAll(/^##+ (.+)$/gm), ([, words]) => words!);
  return new Set(
    headings.map((words) =>
      words
        .toLowerCase()
        .replaceAll(/[^a-z0-9 -]/g, "")
        .replaceAll(" ", "-"),
    ),
  );
}

const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
if (!hasPromtool) console.warn("Alerts are not tried by Prometheus: there is no promtool on PATH");

describe("alerts", () => {
  it("have names of their own, a severity, and a runbook that there is", () => {
    const names = rules.map(({ alert }) => alert);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(12);
    const anchors = anchorsOf(read("docs/runbooks.md"));
    for (const { alert, labels, annotations } of rules) {
      expect([alert, ["critical", "warning", "info"].includes(labels.severity)]).toEqual([alert, true]);
      const [page, anchor] = annotations.runbook_url.split("#");
      expect(page).toBe("docs/runbooks.md");
      expect([alert, anchors.has(anchor!)]).toEqual([alert, true]);
      expect(annotations.summary).not.toBe("");
    }
  });

  it("have all runbooks", () => {
    const asked = new Set(rules.map(({ annotations }) => annotations.runbook_url.split("#")[1]));
    expect(Array.from(anchorsOf(read("docs/runbooks.md"))).filter((anchor) => !asked.has(anchor))).toEqual(
      [],
    );
  });

  it("are each tried", () => {
    const tests = read("share/prometheus/rules.test.yml");
    expect(rules.map(({ alert }) => alert).filter((alert) => !tests.includes(alert))).toEqual([]);
  });

  it.skipIf(!hasPromtool)(
    "are told when they should be, and not otherwise",
    { timeout: 180_000 },
    async () => {
      const promtool = promisify(execFile);
      await promtool("promtool", ["check", "rules", share("prometheus/rules.yml")]);
      const tried = await promtool("promtool", ["test", "rules", share("prometheus/rules.test.yml")]);
      expect(tried.stdout).toContain("SUCCESS");
    },
  );
});

describe("the dashboard", () => {
  it("has panels with ids of their own, beside and below each other, and no plugins", () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ type }) => type))).toEqual(new Set(["row", "stat", "table", "timeseries"]));
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
    const rows = panels.filter(({ type }) => type === "row").map(({ title }) => title);
    expect(rows).toEqual(["Overview", "API", "Database", "Jobs", "Reporters"]);
  });

  it("asks the data source that is chosen, and no other", () => {
    const sources = dashboard.templating.list.filter(({ type }) => type === "datasource");
    expect(sources.map(({ name }) => name)).toEqual(["datasource"]);
    for (const { datasource } of targets)
      expect(datasource).toEqual({ type: "prometheus", uid: "${datasource}" });
  });
});

describe("what alerts and dashboard ask for", () => {
  let app: TestApp;
  let shown: Set<string>;
  beforeAll(async () => {
    app = await startTestApp();
    const { db } = app.deps;
    const replica = {
      db,
      state: async () => "current" as const,
      lag: () => 0,
      requireKin: async () => {},
      close: async () => {},
    };
    createSource({ ...app.deps, replica });
    // A histogram shows nothing before its first request.
    await app.anonymous.request("GET", "root:/live");
    const { text } = await app.anonymous.request("GET", "root:/metrics");
    shown = new Set(Array.from(text.matchAll(/^([a-z_0-9]+)(?:\{| )/gm), ([, name]) => name!));
  });
  afterAll(() => app.close());

  const expressions = [
    ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
    ...dashboard.panels.flatMap(({ title, targets: asked = [] }) =>
      asked.map(({ expr }): [string, string] => [title, expr]),
    ),
  ];

  it.each(expressions)("%s: the server shows it", (_name, expression) => {
    const known = new Set([...shown, ...shownLater]);
    const asked = metricsIn(expression);
    expect(asked.length + Number(expression.includes("up{"))).toBeGreaterThan(0);
    expect(asked.filter((name) => !known.has(name))).toEqual([]);
  });
});
