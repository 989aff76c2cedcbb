import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { instanceActions } from "../instance-log.ts";
import { cefLine } from "./cef.ts";
import { auditLine } from "./lines.ts";
import { ocsfEvent } from "./ocsf.ts";
import type { AuditRecord } from "./record.ts";
import { syslogFrame, syslogMessage } from "./syslog.ts";

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc
    .array(
      fc.constantFrom("\\", "|", "=", "\n", "\r", " ", "a=b", "\\n", "\\=", "é", "\u2028", "日", "{", '"'),
      {
        maxLength: 12,
      },
    )
    .map((parts) => parts.join("")),
);
const id = fc.option(fc.stringMatching(/^[a-f0-9]{32}$/));
const address = fc.oneof(fc.constant(null), fc.ipV4(), fc.ipV6());
const action = fc.oneof(
  fc.constantFrom(...instanceActions, "create_user", "delete_member", "put_member", "post_control", "get_x"),
  text,
);
const record: fc.Arbitrary<AuditRecord> = fc.record({
  org: fc.option(text),
  seq: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  occurred_at: fc.double({ min: 0, max: 4_000_000_000, noNaN: true }),
  actor: text,
  actor_kind: fc.constantFrom("user", "service_account", "integration", "system"),
  actor_id: id,
  api_key_id: id,
  action,
  resource_type: fc.oneof(
    fc.constantFrom("user", "member", "api_key", "session", "refused_sign_in", "flow"),
    text,
  ),
  resource: text,
  request_id: text,
  request_digest: fc.option(fc.stringMatching(/^[a-f0-9]{64}$/)),
  address,
  details: fc.option(fc.dictionary(text, fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)))),
});

/** Reads what JSON can carry of a record. */
const carried = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Reads a line of CEF as the format's description says, from that alone. */
function parseCef(line: string): { header: string[]; fields: Map<string, string> } {
  const header: string[] = [];
  let rest = line;
  while (header.length < 7) {
    const [whole, field = ""] = /^((?:[^\\|]|\\[\\|])*)\|/s.exec(rest) ?? [];
    if (whole === undefined) throw new Error(`no header in ${line}`);
    header.push(field.replace(/\\([\\|])/g, "$1"));
    rest = rest.slice(whole.length);
  }
  const fields = new Map<string, string>();
  // A key begins at the beginning or after a space, and ends at an equals sign that is not escaped.
  const key = /(?:^| )([A-Za-z0-9]+)=((?:[^\\=]|\\[\\=nr])*)(?= [A-Za-z0-9]+=|$)/gsy;
  for (let at = 0; at < rest.length; at = key.lastIndex) {
    key.lastIndex = at;
    const [, name = "", value = ""] = key.exec(rest) ?? [];
    if (name === "") throw new Error(`no field at ${at} of ${rest}`);
    const plain = { n: "\n", r: "\r" } as const;
    fields.set(
      name,
      value.replace(/\\([\\=nr])/g, (_all, one: string) => plain[one as "n" | "r"] ?? one),
    );
  }
  return { header, fields };
}

describe("JSON lines", () => {
  it("have the whole entry, in one line", () => {
    fc.assert(
      fc.property(record, (one) => {
        const line = auditLine(one, "jsonl", "1.2.3");
        expect(line).not.toMatch(/[\r\n]/);
        expect(JSON.parse(line)).toEqual(carried(one));
      }),
    );
  });
});

describe("CEF", () => {
  it("reads back what was written, whatever stands in it", () => {
    fc.assert(
      fc.property(record, text, (one, version) => {
        const line = cefLine(one, JSON.stringify(one), { version });
        expect(line).not.toMatch(/[\r\n]/);
        const { header, fields } = parseCef(line);
        expect(header.slice(0, 3)).toEqual(["CEF:0", "Waybill", "Waybill"]);
        expect(header[3]).toBe(version.replace(/[\r\n]+/g, " "));
        expect(header[4]).toBe(one.action.replace(/[\r\n]+/g, " "));
        expect(Number(header[6])).toBeGreaterThanOrEqual(0);
        expect(Number(header[6])).toBeLessThanOrEqual(10);
        expect(fields.get("suser")).toBe(one.actor);
        expect(fields.get("act")).toBe(one.action);
        expect(fields.get("cs3")).toBe(one.resource);
        expect(fields.get("cs1")).toBe(one.org ?? undefined);
        expect(fields.get("externalId")).toBe(String(one.seq));
        expect(fields.get("rt")).toBe(String(Math.floor(one.occurred_at * 1000)));
        expect(fields.get("src") ?? fields.get("c6a2")).toBe(one.address ?? undefined);
        expect(JSON.parse(fields.get("unmapped") ?? "")).toEqual(carried(one));
      }),
      { numRuns: 500 },
    );
  });
});

// What the schema of OCSF 1.3.0 requires of every event, and of these classes.
const common = [
  "activity_id",
  "category_uid",
  "class_uid",
  "metadata",
  "severity_id",
  "time",
  "type_uid",
] as const;
const ofClass: Record<number, { required: string[]; category: number; activities: number[] }> = {
  3001: { required: ["user"], category: 3, activities: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 99] },
  3002: { required: ["user", "service"], category: 3, activities: [0, 1, 2, 3, 4, 5, 99] },
  6003: { required: ["actor", "api", "src_endpoint"], category: 6, activities: [0, 1, 2, 3, 4, 99] },
};

// The event is read as any receiver reads it.
// oxlint-disable-next-line typescript/no-explicit-any
const eventOf = (one: AuditRecord): any => JSON.parse(JSON.stringify(ocsfEvent(one, "1.2.3")));

describe("OCSF", () => {
  it("has what each class requires, and the whole entry as unmapped", () => {
    fc.assert(
      fc.property(record, (one) => {
        const event = eventOf(one);
        for (const name of common) expect(event).toHaveProperty(name);
        const rules = ofClass[event.class_uid];
        if (rules === undefined) throw new Error(`unknown class ${event.class_uid}`);
        for (const name of rules.required) expect(event).toHaveProperty(name);
        expect(event.category_uid).toBe(rules.category);
        expect(rules.activities).toContain(event.activity_id);
        expect(event.type_uid).toBe(event.class_uid * 100 + event.activity_id);
        if (event.activity_id === 99) expect(event.activity_name).toBe(one.action);
        expect(Number.isSafeInteger(event.time)).toBe(true);
        expect(event.metadata).toMatchObject({ version: "1.3.0", product: { vendor_name: "Waybill" } });
        expect(event.unmapped).toEqual(carried(one));
        if (event.class_uid === 6003) {
          expect(event.api.operation).toBe(one.action);
          expect(Object.keys(event.src_endpoint)).toEqual([one.address === null ? "svc_name" : "ip"]);
        }
      }),
    );
  });

  const base: AuditRecord = {
    org: "acme",
    seq: 7,
    occurred_at: 1_700_000_000.25,
    actor: "ann",
    actor_kind: "user",
    actor_id: null,
    api_key_id: null,
    action: "create_flow",
    resource_type: "flow",
    resource: "web",
    request_id: "r",
    request_digest: null,
    address: "192.0.2.1",
    details: null,
  };
  it.each<[Partial<AuditRecord>, number, number]>([
    [{ action: "sign_in", resource_type: "user", resource: "ann", org: null }, 300201, 1],
    [{ action: "sign_in_failed", resource_type: "user", resource: "ann", org: null }, 300201, 2],
    [{ action: "create_user_session", resource_type: "refused_sign_in" }, 300201, 2],
    [{ action: "sign_out", resource_type: "session" }, 300202, 1],
    [{ action: "delete_user_session", resource_type: "session" }, 300202, 1],
    [{ action: "break_glass", resource_type: "user" }, 300299, 1],
    [{ action: "create_service_account", resource_type: "service_account" }, 300101, 1],
    [{ action: "delete_service_account", resource_type: "service_account" }, 300106, 1],
    [{ action: "put_member", resource_type: "member" }, 300107, 1],
    [{ action: "delete_member", resource_type: "member" }, 300108, 1],
    [{ action: "create_user_api_key", resource_type: "api_key" }, 300199, 1],
    [{ action: "create_flow" }, 600301, 1],
    [{ action: "get_attestation_evidence" }, 600302, 1],
    [{ action: "put_policy" }, 600303, 1],
    [{ action: "delete_space" }, 600304, 1],
    [{ action: "backup" }, 600399, 1],
  ])("maps %j to %i", (change, type, status) => {
    expect(eventOf({ ...base, ...change })).toMatchObject({ type_uid: type, status_id: status });
  });

  it("names who signed in, whoever tells of it", () => {
    const event = eventOf({
      ...base,
      org: null,
      action: "sign_in_failed",
      resource_type: "user",
      resource: "eve",
    });
    expect(event).toMatchObject({
      user: { name: "eve" },
      time: 1_700_000_000_250,
      metadata: { log_name: "instance" },
    });
  });
});

describe("syslog", () => {
  it("frames messages by their bytes, and keeps headers printable", () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 5 }), text, (records, host) => {
        const messages = records.map((one) => syslogMessage(one, auditLine(one, "jsonl", "1"), host));
        let stream = Buffer.concat(messages.map(syslogFrame));
        const read: string[] = [];
        while (stream.length > 0) {
          const [prefix = "", length] = /^([1-9]\d*) /.exec(stream.toString("latin1")) ?? [];
          const end = prefix.length + Number(length);
          read.push(stream.subarray(prefix.length, end).toString("utf8"));
          stream = stream.subarray(end);
        }
        expect(read.map((message) => JSON.parse(message.replace(/^(?:\S+ ){7}/, "")) as unknown)).toEqual(
          records.map(carried),
        );
        for (const message of read)
          expect(message).toMatch(
            /^<(?:110|109|108|106)>1 \d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z [\x21-\x7e]{1,255} waybill - [\x21-\x7e]{1,32} - \{/,
          );
      }),
    );
  });
});
