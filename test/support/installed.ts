import { samplePolicy } from "./policies.ts";

const flow = "web";

function formOf(field: string, data: unknown, files: Readonly<Record<string, string>> = {}): FormData {
  const form = new FormData();
  form.set(field, JSON.stringify(data));
  for (const [name, content] of Object.entries(files)) form.set(name, new Blob([content]), `${name}.txt`);
  return form;
}

/** A server that is asked for what it may not have loaded before. */
export class Installed {
  readonly #url: string;
  readonly #key: string;
  #org = "";

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  /** Makes what the other questions are about, and has somebody be told by mail of trails. */
  async prepare(): Promise<void> {
    const user = (await (await this.#ask("GET", "/api/v2/user/default-org")).json()) as {
      default_org_name: string;
    };
    this.#org = user.default_org_name;
    await this.#attest("before", "generic", { is_compliant: true });
    const action = {
      name: "mail",
      type: "flow",
      flows: [flow],
      triggers: ["ON_STARTED_TRAIL"],
      targets: [{ type: "EMAIL", emails: ["ann@example.org"] }],
    };
    const answer = await this.#ask("PUT", `/api/v2/actions/${this.#org}/flows`, action);
    if (!answer.ok) throw new Error(await answer.text());
  }

  /** Asks for one of everything. @returns what was not answered well, each with its answer. */
  async statuses(): Promise<string[]> {
    const org = this.#org;
    const evaluator = { content_type: "jq", rules: [".line > 80"] };
    const type = formOf(
      "data_json",
      { name: "coverage", evaluator },
      { type_schema: JSON.stringify({ type: "object", required: ["line"] }) },
    );
    const policy = formOf(
      "payload",
      { name: "long" },
      { policy_file: "# long enough for a thread\n".repeat(400) + samplePolicy },
    );
    const page = { headers: { accept: "text/html" } };
    const shell = await (await fetch(`${this.#url}/`, page)).text();
    const asset = /\.?\/(-\/assets\/[\w.-]+\.js)/.exec(shell)?.[1] ?? "no asset";
    // As many at once as there are connections to the database: each loads what it needs anew.
    const environments = Array.from({ length: 40 }, (_, at) =>
      this.#ask("PUT", `/api/v2/environments/${org}`, { name: `e-${at}`, type: "server", description: "" }),
    );
    const asked: Record<string, Promise<Response>> = {
      "custom type": this.#ask("POST", `/api/v2/custom-attestation-types/${org}`, type),
      policy: this.#ask("PUT", `/api/v2/policies/${org}`, policy),
      pdf: this.#ask("GET", `/api/v2/trails/${org}/${flow}/before/audit_pdf`),
      page: fetch(`${this.#url}/`, page),
      asset: fetch(`${this.#url}/${asset}`),
      openapi: this.#ask("GET", "/api/v2/openapi.json"),
      ...Object.fromEntries(environments.map((answer, at) => [`environment ${at}`, answer])),
    };
    for (const name of ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"])
      asked[name] = this.#ask("GET", `/api/v2/doc/${name}`);
    const bad: string[] = [];
    for (const [name, asking] of Object.entries(asked)) {
      const answer = await asking;
      const text = await answer.text();
      if (!answer.ok) bad.push(`${name}: ${answer.status} ${text.slice(0, 400)}`);
      if (name === "pdf" && !text.startsWith("%PDF-")) bad.push(`${name}: no PDF`);
    }
    const attested = [
      await this.#attest("after", "custom", { type_name: "coverage", attestation_data: { line: 90 } }),
      await this.#attest("after", "generic", { is_compliant: true }, { attachment: "in a bucket" }),
    ];
    for (const answer of attested)
      if (answer.status !== 201) bad.push(`attestation: ${answer.status} ${await answer.text()}`);
    return bad;
  }

  /** Asks what a check of the instance has found. */
  async finding(check: string): Promise<string | undefined> {
    const answer = await this.#ask("GET", "/api/v2/health");
    const { checks } = (await answer.json()) as { checks: { name: string; status: string }[] };
    return checks.find(({ name }) => name === check)?.status;
  }

  /** Reads a figure. */
  async figure(name: string): Promise<string | undefined> {
    const answer = await fetch(`${this.#url}/metrics`);
    return new RegExp(`^${name} (.*)$`, "m").exec(await answer.text())?.[1];
  }

  #attest(
    trail: string,
    kind: string,
    more: Record<string, unknown>,
    files: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const data = { attestation_name: kind, user_data: {}, ...more };
    const path = `/api/v2/attestations/${this.#org}/${flow}/trail/${trail}/${kind}`;
    return this.#ask("POST", path, formOf("data_json", data, files));
  }

  #ask(method: string, path: string, body?: unknown): Promise<Response> {
    const authorization = `Bearer ${this.#key}`;
    if (body === undefined || body instanceof FormData)
      return fetch(`${this.#url}${path}`, { method, headers: { authorization }, ...(body && { body }) });
    const headers = { authorization, "content-type": "application/json" };
    return fetch(`${this.#url}${path}`, { method, headers, body: JSON.stringify(body) });
  }
}
