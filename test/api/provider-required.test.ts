import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";

import { print } from "../../src/cli/output.ts";
import { createKey } from "../../src/cli/admin-keys.ts";
import { providerForKeys, providerForUsers, providerInstead } from "../../src/domain/key-rules.ts";
import { createSignInToken } from "../../src/modules/identity/sessions/service.ts";
import { commandActor } from "../../src/cli/command-deps.ts";
import { tellHowToSignIn } from "../../src/cli/sign-in.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { backTo, beginAt, comeBackTo, startPath, startWith, whoHas } from "../support/at-provider.ts";
import type { Answer } from "../support/client.ts";
import { fromSite, signIn as signInWithKey, trySignIn } from "../support/sessions.ts";
import { startProvider, type TestProvider } from "../support/sign-in-provider.ts";
import { uniqueName } from "../support/unique-name.ts";

let provider: TestProvider;
/** Where everybody has to sign in at the provider, and a server on the same database that takes keys, too. */
let app: TestApp;
let open: TestApp;
let org: TestOrg;

beforeAll(async () => {
  provider = await startProvider(backTo);
  open = await startWith(provider);
  app = await startWith(provider, { WAYBILL_OIDC_REQUIRE: "1" }, open);
  org = await open.org();
});
afterAll(async () => {
  await app.close();
  await open.close();
  await provider.close();
});

async function signIn(): Promise<string> {
  const name = uniqueName("ann");
  provider.person = { sub: `sub-${name}`, preferred_username: name, groups: [`admins-${org.name}`] };
  const { address, cookie } = await beginAt(app);
  const { session, status } = await comeBackTo(app, await provider.visit(address.href), cookie);
  expect(status).toBe(303);
  return session ?? "";
}

const ask = (on: TestApp, cookie: string, method: string, path: string, json?: object): Promise<Answer> =>
  on.anonymous.request(method, path, {
    headers: { ...fromSite, cookie },
    ...(json === undefined ? {} : { json }),
  });

const makeKey = (cookie: string, on = app): Promise<Answer> =>
  ask(on, cookie, "POST", "/user/api-keys", { description: "of a person" });

async function accountKey(): Promise<string> {
  const name = uniqueName("bot");
  await org.admin.post(`/service-accounts/${org.name}`, { name, privilege: "reader" });
  return (await org.admin.post(`/service-accounts/${org.name}/${name}/api-keys`, { description: "x" })).json
    .key;
}

describe("where everybody has to sign in at the provider", () => {
  it("is no other method", async () => {
    const { json } = await app.anonymous.get("/sign-in/methods");
    expect(json.methods).toMatchObject([{ kind: "oidc", address: `http://waybill.test${startPath}` }]);
    expect((await open.anonymous.get("/sign-in/methods")).json.methods).toHaveLength(2);
  });

  it("begins no session with a key, whosever it is and whether it works, and says why", async () => {
    const user = await open.user();
    for (const api_key of [user.key, await accountKey(), "wb_no-such-key"]) {
      const answer = await trySignIn(app, { api_key });
      expect([answer.status, answer.json, answer.headers["set-cookie"]]).toEqual([
        403,
        { message: providerInstead },
        undefined,
      ]);
    }
    // That is no failure: nobody is made to wait for it.
    for (let time = 0; time < 12; time += 1)
      expect((await trySignIn(app, { api_key: "wrong" })).status).toBe(403);
  });

  it("ends sessions that were begun with keys, also in lists, and where anybody may read", async () => {
    const user = await open.user();
    const [own, account] = [user.key, await accountKey()];
    for (const key of [own, account]) {
      const { cookie } = await signInWithKey(open, key);
      expect((await ask(open, cookie, "GET", "/user")).status).toBe(200);
      expect((await ask(app, cookie, "GET", "/user")).status).toBe(401);
      expect((await ask(app, cookie, "GET", `/environments/${org.name}`)).status).toBe(401);
    }
    const list = async (on: TestApp): Promise<unknown[]> =>
      (await on.as(own).get("/user/sessions")).json.data;
    expect([(await list(open)).length, (await list(app)).length]).toEqual([1, 0]);
    const shown = await open.org({ public: true });
    const { cookie } = await signInWithKey(open, shown.admin.key!);
    expect((await ask(app, cookie, "GET", `/environments/${shown.name}`)).status).toBe(200);
    expect((await ask(app, cookie, "GET", `/members/${shown.name}`)).status).toBe(401);
  });

  it("lets keys go on working for the API", async () => {
    const user = await open.user();
    for (const key of [user.key, await accountKey()])
      expect((await app.as(key).get("/user")).status).toBe(200);
  });

  it("makes personal keys in sessions that were begun there, and in no other way", async () => {
    const session = await signIn();
    const made = await makeKey(session);
    expect([made.status, (await app.as(made.json.key).get("/user")).status]).toEqual([201, 200]);
    const byKey = await app.as(made.json.key).post("/user/api-keys", { description: "by a key" });
    expect([byKey.status, byKey.json]).toEqual([403, { message: providerForKeys }]);
    expect((await open.as(made.json.key).post("/user/api-keys", { description: "there" })).status).toBe(201);
    // Service accounts are for programs: who has the role makes their keys as before.
    const bot = uniqueName("bot");
    const asAdmin = app.as(org.admin.key!);
    await asAdmin.post(`/service-accounts/${org.name}`, { name: bot, privilege: "reader" });
    const keys = `/service-accounts/${org.name}/${bot}/api-keys`;
    expect((await asAdmin.post(keys, { description: "for a pipeline" })).status).toBe(201);
  });

  it("lets in who has an emergency link, also while the provider is away, who makes no keys either", async () => {
    const user = await open.user();
    await provider.goAway();
    onTestFinished(() => provider.comeBack());
    for (const public_url of ["http://waybill.test", undefined]) {
      const { token } = await createSignInToken(app.deps, commandActor("admin sign-in-link"), {
        user: user.name,
        public_url,
      });
      const answer = await trySignIn(app, { token });
      expect(answer.status).toBe(201);
      const cookie = String(answer.headers["set-cookie"]).split(";", 1)[0]!;
      expect((await whoHas(app, cookie)).json.name).toBe(user.name);
      const refused = await makeKey(cookie);
      expect([refused.status, refused.json]).toEqual([403, { message: providerForKeys }]);
    }
  });

  it("leaves it to who runs the machine to make a key for somebody", async () => {
    const user = await open.user();
    const line = vi.spyOn(print, "line").mockImplementation(() => {});
    await createKey(app.deps, { user: user.name, description: "by hand" });
    expect((await app.as(String(line.mock.lastCall?.[0])).get("/user")).json.name).toBe(user.name);
    line.mockRestore();
  });

  it("invites nobody, and takes no invitation of before", async () => {
    const body = { user: uniqueName("eve"), role: "reader" };
    const { token } = (await org.admin.post(`/members/${org.name}/invitations`, body)).json;
    const asAdmin = app.as(org.admin.key!);
    const refused = await asAdmin.post(`/members/${org.name}/invitations`, {
      ...body,
      user: uniqueName("eve"),
    });
    expect([refused.status, refused.json]).toEqual([403, { message: providerForUsers }]);
    const accept = (on: TestApp): Promise<Answer> =>
      on.anonymous.request("POST", "/invitations/accept", { json: { token }, headers: fromSite });
    expect([(await accept(app)).status, (await accept(open)).status]).toEqual([403, 201]);
  });

  it("is what a server tells at its start", async () => {
    const line = vi.spyOn(print, "line").mockImplementation(() => {});
    await tellHowToSignIn(app.deps, "http://127.0.0.1:8001", false);
    expect(line.mock.lastCall?.[0]).toContain(
      `(sign in at ${new URL(provider.issuer).host}, or with the link`,
    );
    line.mockRestore();
  });
});

it("asks for nothing where it is not set, though a provider is", async () => {
  const user = await open.user();
  expect((await user.client.post("/user/api-keys", { description: "x" })).status).toBe(201);
  const without = await startTestApp({ WAYBILL_OIDC_REQUIRE: "0" });
  try {
    expect((await trySignIn(without, { api_key: (await without.user()).key })).status).toBe(201);
  } finally {
    await without.close();
  }
});
