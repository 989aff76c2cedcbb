import { once } from "node:events";
import { networkInterfaces } from "node:os";
import { connect as connectTls } from "node:tls";

import SMTPConnection from "nodemailer/lib/smtp-connection/index.js";

import type { TlsSettings } from "../config-edge.ts";
import type { Config } from "../config.ts";
import {
  type Diagnosis,
  failing,
  fine,
  isBehindProxy,
  judgeCertificate,
  judgeProxy,
  judgeReached,
} from "../domain/doctor.ts";
import { askRoute, judgeRoute, pretendedAddress, readRoute, routeHeader } from "../domain/route.ts";
import { CertificateError, readCertificateEnds } from "../http/tls.ts";
import { reachableHost } from "../lib/network.ts";
import { isSecretTaken } from "../modules/identity/sign-in-provider/provider-service.ts";
import type { DoctorCheck } from "./doctor-checks.ts";
import { ownSecrets } from "./doctor-database.ts";
import { exposureOf } from "./doctor-machine.ts";
import { askOwnServer } from "./health.ts";

const waitMs = 4_000;
const mostBytes = 65_536;

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  // What `fetch` throws says why in its cause; that of several addresses has no message.
  const { code } = error as NodeJS.ErrnoException;
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message || code || error.name;
};

/** Reads the beginning of what an address answers. */
async function read(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; text: string; headers: Headers }> {
  const answer = await fetch(url, { headers, redirect: "manual", signal: AbortSignal.timeout(waitMs) });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer.body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > mostBytes) break;
  }
  return { status: answer.status, text: Buffer.concat(chunks).toString("utf8"), headers: answer.headers };
}

/** Says why something failed; undefined when it did not. */
async function problemOf(work: () => Promise<string | undefined>): Promise<string | undefined> {
  return work().catch(reasonOf);
}

/** Tells who listens on the server's port: it, another program, or nobody. */
async function whoListens({ host, port, tls }: Config): Promise<"ours" | "other" | "nobody"> {
  const url = `${tls === undefined ? "http" : "https"}://${reachableHost(host)}:${port}/live`;
  try {
    const { status, text } = await askOwnServer(url);
    return status === 200 && text === "OK" ? "ours" : "other";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ECONNREFUSED" ? "nobody" : "other";
  }
}

async function lookAtPort(config: Config): Promise<Diagnosis> {
  const who = await whoListens(config);
  if (who === "other")
    return {
      status: "failing",
      detail: `another program holds port ${config.port}`,
      remedy: "Stop that program, or set PORT to another port",
    };
  const detail =
    who === "ours"
      ? `the server answers on port ${config.port}`
      : `port ${config.port} is free: no server runs here`;
  return { status: "ok", detail, remedy: null };
}

async function lookAtPublicUrl(config: Config): Promise<Diagnosis | undefined> {
  if ((await whoListens(config)) !== "ours") return undefined;
  const problem = await problemOf(async () => {
    const { status, text } = await read(`${config.publicUrl}/live`);
    return status === 200 && text === "OK" ? undefined : `${status} instead of the server's 200 OK`;
  });
  const remedy =
    "Check WAYBILL_PUBLIC_URL, its name, its certificate and the proxy: links in messages lead there";
  return judgeReached(config.publicUrl, problem, remedy);
}

/** Sends a request by the public URL, and judges what the server saw of it; by the settings alone where nothing answers that knows the secret key. */
async function lookAtProxies(config: Config): Promise<Diagnosis> {
  const exposure = exposureOf(config);
  const secrets = ownSecrets(config);
  if (secrets === undefined || !config.roles.api || (await whoListens(config)) !== "ours")
    return judgeProxy(exposure);
  const route = await read(`${config.publicUrl}/live`, {
    [routeHeader]: askRoute(secrets, Date.now() / 1000),
    "x-forwarded-for": pretendedAddress,
  }).then(
    ({ headers }) => readRoute(headers.get(routeHeader)),
    () => undefined,
  );
  if (route === undefined) return judgeProxy(exposure);
  const ownAddresses = Object.values(networkInterfaces()).flatMap((each) =>
    (each ?? []).map(({ address }) => address),
  );
  return judgeRoute(route, {
    publicUrl: config.publicUrl,
    isBehindProxy: isBehindProxy(exposure),
    ownAddresses,
  });
}

async function readPublicCertificate(url: URL): Promise<number | undefined> {
  const host = url.hostname.replaceAll(/^\[|\]$/g, "");
  const port = url.port === "" ? 443 : Number(url.port);
  // Looked at however doubtful it is: nothing is sent.
  const socket = connectTls({
    host,
    port,
    rejectUnauthorized: false,
    ...(/^[\d.:]+$/.test(host) ? {} : { servername: host }),
  });
  try {
    await once(socket, "secureConnect", { signal: AbortSignal.timeout(waitMs) });
    const certificate = socket.getPeerX509Certificate();
    return certificate && Date.parse(certificate.validTo) / 1000;
  } finally {
    socket.destroy();
  }
}

/** Judges a certificate of the server's own files. @throws what reading them fails with. */
async function lookAtTlsFiles(
  tls: TlsSettings,
  judge: (ends: Awaited<ReturnType<typeof readCertificateEnds>>) => Diagnosis | undefined,
): Promise<Diagnosis | undefined> {
  try {
    return judge(await readCertificateEnds(tls));
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    return failing(
      error.message,
      "Put a certificate, its key and the authority of clients there that fit together: a server takes no others",
    );
  }
}

function lookAtClientAuthority({ tls }: Config): Promise<Diagnosis | undefined> | undefined {
  if (tls?.clientCa === undefined) return undefined;
  return lookAtTlsFiles(tls, ({ clientCa }) =>
    clientCa === undefined
      ? undefined
      : judgeCertificate("a certificate of WAYBILL_TLS_CLIENT_CA", clientCa, Date.now() / 1000),
  );
}

async function lookAtCertificate({ tls, publicUrl }: Config): Promise<Diagnosis | undefined> {
  const now = Date.now() / 1000;
  if (tls !== undefined)
    return lookAtTlsFiles(tls, ({ cert }) =>
      judgeCertificate("the certificate of WAYBILL_TLS_CERT", cert, now),
    );
  const url = new URL(publicUrl);
  if (url.protocol !== "https:") return undefined;
  const endsAt = await readPublicCertificate(url);
  return endsAt === undefined ? undefined : judgeCertificate(`the certificate of ${publicUrl}`, endsAt, now);
}

/** Connects, and says EHLO: signs in nowhere and sends nothing. */
async function greet({ host, port, secure, requireTls }: NonNullable<Config["smtp"]>): Promise<undefined> {
  const limits = { connectionTimeout: waitMs, greetingTimeout: waitMs, socketTimeout: waitMs };
  const connection = new SMTPConnection({ host, port, secure, requireTLS: requireTls, ...limits });
  try {
    await new Promise<void>((done, fail) => {
      connection.once("error", fail);
      connection.connect((error) => (error ? fail(error) : done()));
    });
    connection.quit();
  } finally {
    connection.close();
  }
}

async function lookAtMail({ smtp }: Config): Promise<Diagnosis | undefined> {
  if (smtp === undefined) return undefined;
  const who = `the mail server ${smtp.host}:${smtp.port}`;
  const remedy = "Check WAYBILL_SMTP_URL, and whether a firewall lets this machine reach the mail server";
  return judgeReached(who, await problemOf(() => greet(smtp)), remedy);
}

/** Reads which issuer a discovery document is of; undefined for what is none. */
function issuerOf(text: string): unknown {
  try {
    return (JSON.parse(text) as { issuer?: unknown } | null)?.issuer;
  } catch {
    return undefined;
  }
}

async function lookAtProvider({ oidc }: Config): Promise<Diagnosis | undefined> {
  if (oidc === undefined) return undefined;
  const problem = await problemOf(async () => {
    const { status, text } = await read(`${oidc.issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
    if (status !== 200) return `${status} for its configuration`;
    return issuerOf(text) === oidc.issuer ? undefined : "its configuration is of another issuer, or none";
  });
  const remedy =
    "Check WAYBILL_OIDC_ISSUER, and whether this machine reaches the provider: nobody can sign in there until it does";
  return judgeReached(`the sign-in provider ${oidc.issuer}`, problem, remedy);
}

/** Finds out whether the provider takes the client's secret: these end, too. */
async function lookAtClientSecret({ oidc, publicUrl }: Config): Promise<Diagnosis | undefined> {
  if (oidc?.clientSecret === undefined) return undefined;
  // Of a provider that is away another check tells.
  const isTaken = await isSecretTaken(oidc, publicUrl).catch(() => undefined);
  if (isTaken === undefined) return undefined;
  return isTaken
    ? fine(`the sign-in provider takes the secret of ${oidc.clientId}`)
    : failing(
        `the sign-in provider refuses the secret of ${oidc.clientId}: nobody can sign in there`,
        "Make a new secret at the provider, where the former one may have ended, and set WAYBILL_OIDC_CLIENT_SECRET to it",
      );
}

/** Lists what is looked at by asking others. */
export function networkChecks(config: Config): DoctorCheck[] {
  return [
    { group: "network", name: "port", look: () => (config.roles.api ? lookAtPort(config) : undefined) },
    {
      group: "network",
      name: "public_url",
      look: () => (config.roles.api ? lookAtPublicUrl(config) : undefined),
    },
    { group: "network", name: "trusted_proxies", look: () => lookAtProxies(config) },
    { group: "network", name: "certificate", look: () => lookAtCertificate(config) },
    { group: "network", name: "client_authority", look: () => lookAtClientAuthority(config) },
    { group: "services", name: "mail", look: () => lookAtMail(config) },
    { group: "services", name: "sign_in", look: () => lookAtProvider(config) },
    { group: "services", name: "sign_in_secret", look: () => lookAtClientSecret(config) },
  ];
}
