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
  /** Carries what the provider sends to us when somebody signs out there. @returns the status of our answer. */
  deliver: (address: URL, form: string) => Promise<number>;
  /** Answers in place of the provider's token endpoint, when set. */
  tokens: (() => object) | undefined;
  /** Goes through the provider as a browser does. @returns the address that it leads back to. */
  visit(address: string): Promise<URL>;
  /** Signs the person out there, as a browser does that was at the provider before. @returns where it leads back to. */
  signOut(address: string): Promise<URL>;
  /** How often somebody asked for the keys. */
  keyReads: number;
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
  provider: () => TestProvider,
  inToken: boolean,
): Configuration {
  const { origin } = new URL(redirectUri);
  return {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [`${origin}/-/sign-in`],
        backchannel_logout_uri: `${origin}/-/sign-out/back-channel`,
        backchannel_logout_session_required: true,
      },
    ],
    fetch: async (url, options) => {
      const form = options?.body instanceof URLSearchParams ? options.body.toString() : "";
      return new Response(null, { status: await provider().deliver(new URL(url), form) });
    },
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
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ ...provider().person, sub }) }),
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
      configurationOf(redirectUri, key, () => provider, inToken),
    );
  let real = make();

  /** Cookies of the browser that was here last. */
  let latest = new Map<string, string>();

  async function ask(url: URL, cookies: Map<string, string>, form?: string): Promise<Response> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answered = await fetch(url, {
      redirect: "manual",
      headers: {
        cookie,
        ...(form === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }),
      },
      ...(form === undefined ? {} : { method: "POST", body: form }),
    });
    for (const set of answered.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    return answered;
  }

  async function next(answered: Response, from: URL): Promise<URL> {
    const location = answered.headers.get("location");
    if (location !== null) return new URL(location, from);
    throw new Error(`The provider answers ${answered.status}: ${await answered.text()}`);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === "/jwks") provider.keyReads += 1;
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
    keyReads: 0,
    deliver: () => Promise.reject(new Error("Nobody takes what the provider sends")),
    visit: async (address) => {
      const cookies = new Map<string, string>();
      latest = cookies;
      let url = new URL(address);
      for (let hop = 0; hop < 6 && url.origin === issuer; hop += 1)
        url = await next(await ask(url, cookies), url);
      return url;
    },
    signOut: async (address) => {
      const url = new URL(address);
      const page = await (await ask(url, latest)).text();
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)?.[1];
      if (xsrf === undefined) throw new Error(`The provider does not ask: ${page}`);
      const confirm = new URL("/session/end/confirm", issuer);
      const form = new URLSearchParams({ xsrf, logout: "yes" }).toString();
      return next(await ask(confirm, latest, form), confirm);
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
