import { createSign, generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { type Configuration, Provider } from "oidc-provider";

/** A person of the provider. */
interface TestPerson {
  sub: string;
  [claim: string]: unknown;
}

/** A real OpenID provider on this machine, at which whoever is named signs in at once. */
export interface TestProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Who signs in next. */
  person: TestPerson;
  /** Answers in place of the provider's token endpoint, when set. */
  tokens: (() => object) | undefined;
  /** Goes through the provider as a browser does. @returns the address that it leads back to. */
  visit(address: string): Promise<URL>;
  /** Signs an ID token with the provider's key. */
  sign(claims: object, header?: object, key?: KeyObject): string;
  /** Gives the provider another key, and forgets the one it had. */
  rotate(): void;
  /** Stops to answer, or answers again at the same address. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

const clientId = "waybill";
const clientSecret = "a secret: of/the+client, 0123456789";
const scopes = ["openid", "email", "profile"];

interface Key {
  id: string;
  private: KeyObject;
}

function makeKey(id: string): Key {
  return { id, private: generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey };
}

function configurationOf(
  redirectUri: string,
  key: Key,
  person: () => TestPerson,
  inToken: boolean,
): Configuration {
  return {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
    jwks: {
      keys: [{ ...key.private.export({ format: "jwk" }), kid: key.id, alg: "RS256", use: "sig" }],
    },
    claims: {
      openid: ["sub"],
      email: ["email", "email_verified"],
      profile: ["preferred_username", "name", "groups"],
    },
    conformIdTokenClaims: !inToken,
    cookies: { keys: ["a key of the cookies of the test"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ ...person(), sub }) }),
    loadExistingGrant: async ({ oidc }) => {
      const accountId = oidc.session?.accountId;
      const grant = new oidc.provider.Grant({ clientId, ...(accountId === undefined ? {} : { accountId }) });
      grant.addOIDCScope(scopes.join(" "));
      await grant.save();
      return grant;
    },
  };
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
}

/** Starts a provider. @param inToken whether ID tokens have all claims; otherwise UserInfo alone has. */
export async function startProvider(redirectUri: string, { inToken = true } = {}): Promise<TestProvider> {
  const server = createServer((request, response) => void answer(request, response));
  await listen(server, 0);
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  let key = makeKey("first");
  const make = (): Provider =>
    new Provider(
      issuer,
      configurationOf(redirectUri, key, () => provider.person, inToken),
    );
  let real = make();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === "/token" && provider.tokens !== undefined) {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(provider.tokens()));
    } else if (request.url?.startsWith("/interaction/") === true)
      await real.interactionFinished(request, response, { login: { accountId: provider.person.sub } });
    else await real.callback()(request, response);
  }

  const provider: TestProvider = {
    issuer,
    clientId,
    clientSecret,
    person: { sub: "nobody" },
    tokens: undefined,
    visit: async (address) => {
      const cookies = new Map<string, string>();
      let url = new URL(address);
      for (let hop = 0; hop < 6 && url.origin === issuer; hop += 1) {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
        const answered = await fetch(url, { redirect: "manual", headers: { cookie } });
        for (const set of answered.headers.getSetCookie()) {
          const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
          cookies.set(name, value);
        }
        const next = answered.headers.get("location");
        if (next === null)
          throw new Error(`The provider answers ${answered.status}: ${await answered.text()}`);
        url = new URL(next, url);
      }
      return url;
    },
    sign: (claims, header = {}, by = key.private) => {
      const text = `${encode({ alg: "RS256", kid: key.id, ...header })}.${encode(claims)}`;
      return `${text}.${createSign("sha256").update(text).sign(by, "base64url")}`;
    },
    rotate: () => {
      key = makeKey("second");
      real = make();
    },
    goAway: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    comeBack: () => listen(server, port),
    close: async () => {
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
  return provider;
}
