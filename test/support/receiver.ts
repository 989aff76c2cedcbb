import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { SMTPServer } from "smtp-server";

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  // Tests read bodies freely; what they read is compared at once.
  // oxlint-disable-next-line typescript/no-explicit-any
  json: any;
}

/** What is answered: a status, a status with headers, or nothing at all. */
type ReceiverAnswer = number | { status: number; headers: Record<string, string> } | "never";

/** Somebody else's web server, which webhooks are sent to. */
export interface Receiver {
  url: string;
  received: ReceivedRequest[];
  /** How requests are answered from now on; 200 before. */
  answer(choose: (request: ReceivedRequest) => ReceiverAnswer | Promise<ReceiverAnswer>): void;
  stop(): Promise<void>;
}

/** Whose certificate a server shows: one that programs may be told to trust, or one nobody knows. Both are for `localhost`. */
export type Identity = "trusted" | "unknown";

/** Where a certificate is that is for tests only. */
export function certificateFile(identity: Identity): string {
  return join(import.meta.dirname, "fixtures", `test-only-${identity}.cert.pem`);
}

function identification(identity: Identity): { cert: Buffer; key: Buffer } {
  const cert = certificateFile(identity);
  return { cert: readFileSync(cert), key: readFileSync(cert.replace(".cert.", ".key.")) };
}

/**
 * Starts a receiver on a free port of this machine.
 * @param identity that it speaks TLS with; without it speaks none.
 */
export async function startReceiver(identity?: Identity): Promise<Receiver> {
  let choose: (request: ReceivedRequest) => ReceiverAnswer | Promise<ReceiverAnswer> = () => 200;
  const received: ReceivedRequest[] = [];
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const { method = "", url = "", headers } = request;
    const one = { method, path: url, headers, body, json: JSON.parse(body) as unknown };
    received.push(one);
    const answer = await choose(one);
    if (answer === "never") return;
    if (typeof answer === "number") response.writeHead(answer).end("{}");
    else response.writeHead(answer.status, answer.headers).end();
  }

  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    receive(request, response).catch(() => response.destroy());
  };
  const server =
    identity === undefined ? createServer(onRequest) : createTlsServer(identification(identity), onRequest);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `${identity === undefined ? "http://127.0.0.1" : "https://localhost"}:${(server.address() as AddressInfo).port}`,
    received,
    answer: (next) => void (choose = next),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Checks a webhook the way its receiver does, from the documentation alone. */
export function isGenuine({ headers, body }: ReceivedRequest, secret: string): boolean {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
  const expected = createHmac("sha256", key).update(signed).digest();
  return String(headers["webhook-signature"])
    .split(" ")
    .some((signature) => {
      const given = Buffer.from(signature.replace("v1,", ""), "base64");
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
}

interface ReceivedMail {
  from: string;
  to: string[];
  user: string | undefined;
  /** Whether it came over TLS. */
  secure: boolean;
  /** With its headers, as it came over the wire. */
  source: string;
}

/** Somebody's mail server. */
export interface MailServer {
  port: number;
  received: ReceivedMail[];
  /** Who tried to log in. */
  logins: string[];
  /** Addresses it takes no mail for. */
  refused: Set<string>;
  /** The same, but it says that they may be tried again later. */
  deferred: Set<string>;
  stop(): Promise<void>;
}

export interface MailServerOptions {
  /** Who may send; everybody when left out. */
  login?: { user: string; password: string };
  /** That it speaks TLS with, from the beginning or when asked to; without it speaks none. */
  tls?: { identity: Identity; begin: "at once" | "when asked" };
}

/** Starts a mail server on a free port of this machine. */
export async function startMailServer({ login, tls }: MailServerOptions = {}): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const refused = new Set<string>();
  const deferred = new Set<string>();
  const logins: string[] = [];
  const server = new SMTPServer({
    authOptional: login === undefined,
    allowInsecureAuth: tls === undefined,
    ...(tls === undefined
      ? { disabledCommands: ["STARTTLS"] }
      : { ...identification(tls.identity), secure: tls.begin === "at once" }),
    onAuth: ({ username = "", password }, _session, done) => {
      logins.push(username);
      if (username === login?.user && password === login?.password) done(null, { user: username });
      else done(new Error("Wrong credentials"));
    },
    onRcptTo: ({ address }, _session, done) => {
      if (refused.has(address)) done(new Error("No such mailbox"));
      else if (deferred.has(address)) done(Object.assign(new Error("Mailbox full"), { responseCode: 452 }));
      else done();
    },
    onData: (stream, session, done) => {
      const { mailFrom, rcptTo } = session.envelope;
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        received.push({
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          user: session.user === undefined ? undefined : String(session.user),
          secure: session.secure,
          source: Buffer.concat(chunks).toString("utf8"),
        });
        done();
      });
    },
  });
  // Who does not trust it ends the connection, as the tests want.
  server.on("error", () => {});
  const listening = server.listen(0, "127.0.0.1");
  await new Promise((resolve) => listening.once("listening", resolve));
  return {
    port: (listening.address() as AddressInfo).port,
    received,
    logins,
    refused,
    deferred,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
