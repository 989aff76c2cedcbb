import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { eventStreamType } from "../../src/contract/event-stream.ts";
import type { Endpoint } from "../../src/contract/endpoint.ts";
import { endpoints } from "../../src/contract/index.ts";
import type { AnyHandler } from "../../src/http/mount.ts";
import { handlers } from "../../src/modules/handlers.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { fillPath } from "../support/operations.ts";

const kept = Object.entries(endpoints as Record<string, Endpoint>).filter(
  ([, endpoint]) => endpoint.kept === true,
);

/** What each handler was told last. */
const told = new Map<string, object>();
const own = { ...handlers } as unknown as Record<string, AnyHandler>;
const all = handlers as unknown as Record<string, AnyHandler>;

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  // Handlers are looked up when the server is built.
  for (const [id] of kept)
    all[id] = (deps, call) => {
      told.set(id, call);
      return own[id]!(deps, call);
    };
  app = await startTestApp();
  Object.assign(all, own);
  org = await app.org();
});
afterAll(() => app.close());

/** All that a kept answer may follow from. */
const enough = ["org", "params", "path", "query", "url"];

describe("every endpoint whose answers are kept", () => {
  it("is there", () => expect(kept.length).toBeGreaterThan(50));

  it.each(kept)("%s reads what an organization has, as JSON without secrets", (_id, endpoint) => {
    const { method, access, showsSecret, body, responses } = endpoint;
    expect([method, access.kind, showsSecret, body]).toEqual(["GET", "organization", undefined, undefined]);
    expect(responses[200]?.schema).toBeDefined();
    expect(responses[200]?.contentType).not.toBe(eventStreamType);
  });

  it.each(kept)("%s is not told who asks", async (id, endpoint) => {
    await org.reader.get(fillPath(endpoint.path, org.name, "a".repeat(64)));
    // Without what has to be in the query it is refused before.
    const call = told.get(id) ?? Object.fromEntries(enough.map((name) => [name, undefined]));
    expect(Object.keys(call).sort()).toEqual(enough);
  });

  it("was tried with nearly all of them", () => expect(told.size).toBeGreaterThan(kept.length - 8));
});
