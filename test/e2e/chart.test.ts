import { execFile, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");
const chart = join(root, "deploy/helm/waybill");
const text = (file: string): string => readFileSync(join(chart, file), "utf8");
const sets = readdirSync(join(chart, "ci")).toSorted();

const has = (command: string): boolean => spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;
const hasHelm = has("helm");
// A folder of JSON Schemas of Kubernetes, named as kubeconform's own: v1.31.0-standalone-strict/deployment-apps-v1.json, …
const schemas = process.env["WAYBILL_TEST_KUBERNETES_SCHEMAS"];

interface Pod {
  securityContext: object;
  automountServiceAccountToken: boolean;
  nodeSelector?: object;
  tolerations?: object[];
  affinity?: object;
  volumes: { name: string }[];
  containers: {
    securityContext: object;
    env: { name: string; value?: string }[];
    startupProbe?: { periodSeconds: number; failureThreshold: number };
    volumeMounts: { name: string; mountPath: string }[];
  }[];
}

interface Rendered {
  kind: string;
  metadata: { name: string };
  spec: { template?: { spec: Pod }; jobTemplate?: { spec: { template?: { spec: Pod } } } };
}

async function render(values: string[], kubernetes = "1.31.0"): Promise<string> {
  const { stdout } = await execute("helm", [
    "template",
    "ours",
    chart,
    "--kube-version",
    kubernetes,
    ...values,
  ]);
  return stdout;
}
const ofSet = (set: string): string[] => ["--values", join(chart, "ci", set)];
const objects = async (values: string[]): Promise<Rendered[]> =>
  parseAllDocuments(await render(values)).map((one) => one.toJS() as Rendered);
/** Renders what runs the program. @returns the pods by the kind of what makes them. */
async function pods(values: string[]): Promise<Map<string, Pod>> {
  const made = (await objects(values)).filter(({ kind }) =>
    ["Deployment", "StatefulSet", "CronJob"].includes(kind),
  );
  return new Map(made.map(({ kind, spec }) => [kind, (spec.jobTemplate?.spec ?? spec).template!.spec]));
}

describe("the chart", () => {
  it("has the program's version", () => {
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
    expect(parse(text("Chart.yaml"))).toMatchObject({ version, appVersion: version });
  });

  it("says of all its values what they may be", () => {
    const validate = new Ajv({ strict: false }).compile(JSON.parse(text("values.schema.json")) as object);
    for (const file of ["values.yaml", ...sets.map((set) => join("ci", set))])
      expect([file, validate(parse(text(file))), validate.errors]).toEqual([file, true, null]);
    const described = Object.keys(
      (JSON.parse(text("values.schema.json")) as { properties: object }).properties,
    );
    expect(Object.keys(parse(text("values.yaml")) as object).toSorted()).toEqual(
      described.filter((name) => name !== "global").toSorted(),
    );
    for (const wrong of [
      { replicaCount: 0 },
      { database: { url: "mysql://db" } },
      { settings: { "not a name": "1" } },
      { unknown: 1 },
    ])
      expect([wrong, validate(wrong)]).toEqual([wrong, false]);
  });

  it("sets what the program reads", () => {
    const settings = readFileSync(join(root, "docs/operating.md"), "utf8");
    const named = readdirSync(join(chart, "templates")).flatMap((file) => [
      ...text(join("templates", file)).matchAll(/- name: ([A-Z][A-Z0-9_]+)$/gm),
    ]);
    expect(named.length).toBeGreaterThan(10);
    for (const [, name] of named) expect(settings).toContain(`\`${name}\``);
  });

  it("has its servers scraped as the job that the alerts look for", () => {
    const [, job] = /targetLabel: job\n +replacement: (\S+)/.exec(text("templates/monitoring.yaml"))!;
    const [, asked] = /up\{job=~"([^"]+)"\}/.exec(text("files/rules.yml"))!;
    expect(job).toMatch(new RegExp(`^(?:${asked})$`));
  });
});

describe.skipIf(!hasHelm)("the chart, rendered (needs helm on the path)", () => {
  it.each(sets)("%s passes helm's own checks", async (set) => {
    const { stdout } = await execute("helm", ["lint", "--strict", chart, ...ofSet(set)]);
    expect(stdout).toContain("1 chart(s) linted, 0 chart(s) failed");
  });

  it.skipIf(!has("kubeconform") || schemas === undefined).each(sets)(
    "%s is what Kubernetes takes (needs kubeconform, WAYBILL_TEST_KUBERNETES_SCHEMAS names a folder of its schemas)",
    async (set) => {
      const file = "{{ .NormalizedKubernetesVersion }}-standalone{{ .StrictSuffix }}";
      const location = `${schemas}/${file}/{{ .ResourceKind }}{{ .KindSuffix }}.json`;
      const rendered = await render(ofSet(set));
      const checked = spawnSync(
        "kubeconform",
        [
          "-strict",
          "-summary",
          "-kubernetes-version",
          "1.31.0",
          "-skip",
          "ServiceMonitor,PrometheusRule",
          "-schema-location",
          location,
        ],
        { input: rendered, encoding: "utf8" },
      );
      expect([checked.status, checked.stdout]).toEqual([
        0,
        expect.stringMatching(/Invalid: 0, Errors: 0, Skipped: [02]\n/),
      ]);
    },
  );

  it("runs one pod with a volume without a database, and as many as wanted with one", async () => {
    const kinds = async (set: string) => (await objects(ofSet(set))).map(({ kind }) => kind);
    expect(await kinds("own-database-values.yaml")).toEqual(
      expect.arrayContaining(["StatefulSet", "Service"]),
    );
    expect(await kinds("external-values.yaml")).toEqual(
      expect.arrayContaining(["Deployment", "PodDisruptionBudget"]),
    );
    expect(await kinds("external-values.yaml")).not.toContain("StatefulSet");
  });

  it("gives no container more rights than it needs", async () => {
    for (const set of sets)
      for (const pod of (await pods(ofSet(set))).values()) {
        expect(pod).toMatchObject({
          automountServiceAccountToken: false,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 10_001,
            seccompProfile: { type: "RuntimeDefault" },
          },
        });
        for (const container of pod.containers)
          expect(container.securityContext).toEqual({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          });
      }
  });

  it("places backups where the server is, and gives them what its settings name", async () => {
    const made = await pods(ofSet("everything-values.yaml"));
    const [server, backup] = [made.get("Deployment")!, made.get("CronJob")!];
    for (const which of ["nodeSelector", "tolerations", "affinity"] as const) {
      expect(server[which]).toBeDefined();
      expect([which, backup[which]]).toEqual([which, server[which]]);
    }
    expect(backup.volumes).toEqual(expect.arrayContaining(server.volumes));
    expect(server.volumes.map(({ name }) => name)).toContain("roles");
    const [mounts, own] = [backup, server].map(({ containers }) => containers[0]!.volumeMounts);
    expect(mounts).toEqual(expect.arrayContaining(own!));
  });

  it("lets starts take as long as they need", async () => {
    const secondsOf = async (...more: string[]): Promise<number> => {
      const made = await pods([...ofSet("own-database-values.yaml"), ...more]);
      const { periodSeconds, failureThreshold } = made.get("StatefulSet")!.containers[0]!.startupProbe!;
      return periodSeconds * failureThreshold;
    };
    expect(await secondsOf()).toBe(86_400);
    expect(await secondsOf("--set", "startupSeconds=600")).toBe(600);
  });

  it("writes settings as the program reads them", async () => {
    for (const { containers } of (await pods(ofSet("everything-values.yaml"))).values())
      expect(containers[0]!.env).toEqual(
        expect.arrayContaining([
          { name: "WAYBILL_MAX_EVIDENCE_BYTES", value: "52428800" },
          { name: "WAYBILL_LOG_LEVEL", value: "warn" },
          { name: "WAYBILL_WEB", value: "false" },
        ]),
      );
  });

  it.each([
    [["--set", "database.url=postgres://db/waybill"], "secretKey.existingSecret is needed"],
    [
      ["--set", "database.url=postgres://db/waybill,secretKey.existingSecret=key"],
      "evidence.s3.bucket is needed",
    ],
    [
      ["--set", "database.url=postgres://db/waybill,secretKey.existingSecret=key,replicaCount=1"],
      "evidence.s3.bucket is needed",
    ],
    [
      ["--set", "database.url=postgres://db/waybill,database.existingSecret=db"],
      "database.url and database.existingSecret are both set",
    ],
    [["--set", "evidence.s3.bucket=files"], "evidence.s3.existingSecret is needed"],
    [["--set", "metrics.serviceMonitor.enabled=true"], "metrics.existingSecret is needed"],
    [["--set", "backup.enabled=true"], "backup.enabled is for external databases"],
    [["--set", "replicas=3"], "replicas"],
  ])("refuses %j", async (values, why) => {
    await expect(render(values)).rejects.toThrow(why);
  });
});
