import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { ServerOptions } from "node:https";
import type { Socket } from "node:net";
import { createSecureContext, type Server, TLSSocket } from "node:tls";

import type { FastifyInstance, FastifyRequest } from "fastify";

import type { TlsSettings } from "../config-edge.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { showGauge } from "../modules/kernel/metrics.ts";

/** Files that cannot be used for TLS; the message says why. */
export class CertificateError extends Error {}

/** What the files hold. */
interface Identity {
  /** Changes with any byte of any file. */
  digest: string;
  cert: Buffer;
  key: Buffer;
  clientCa: Buffer | undefined;
  /** When the certificate ends, in Unix seconds. */
  endsAt: number;
}

const mostBytes = 1024 * 1024;
const oldest = "TLSv1.2" as const;

/** Milliseconds between two looks at the files. What is new is taken at the second look that finds it: files are replaced one after the other. */
const lookEveryMs = 2_000;

async function read(file: string): Promise<Buffer> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new CertificateError(`${file} cannot be read: ${error.code}`);
  });
  if (bytes.length > mostBytes)
    throw new CertificateError(`${file} is too large to be a certificate or a key`);
  return bytes;
}

/** Does what fails for a file that is not what it should be. */
function parsing<T>(file: string, what: string, parse: () => T): T {
  try {
    return parse();
  } catch {
    // The reason may quote the file.
    throw new CertificateError(`${file} holds no ${what} in PEM`);
  }
}

interface Files {
  cert: Buffer;
  key: Buffer;
  clientCa: Buffer | undefined;
  digest: string;
}

async function readFiles(settings: TlsSettings): Promise<Files> {
  const { clientCa: caFile } = settings;
  const [cert, key, clientCa] = await Promise.all([
    read(settings.cert),
    read(settings.key),
    caFile === undefined ? undefined : read(caFile),
  ]);
  const hash = createHash("sha256");
  for (const bytes of [cert, key, clientCa ?? ""]) hash.update(createHash("sha256").update(bytes).digest());
  return { cert, key, clientCa, digest: hash.digest("base64") };
}

/** Checks that the files can be used together. @throws CertificateError when they cannot. */
function identityOf(settings: TlsSettings, files: Files): Identity {
  const { cert, key, clientCa } = files;
  const certificate = parsing(settings.cert, "certificate", () => new X509Certificate(cert));
  const privateKey = parsing(settings.key, "private key without a passphrase", () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey))
    throw new CertificateError(`${settings.key} is not the key of the first certificate in ${settings.cert}`);
  if (clientCa !== undefined)
    parsing(settings.clientCa ?? "", "certificate", () => new X509Certificate(clientCa));
  parsing(settings.cert, "chain of certificates that can be used", () =>
    createSecureContext({
      cert,
      key,
      minVersion: oldest,
      ...(clientCa === undefined ? {} : { ca: clientCa }),
    }),
  );
  return { ...files, endsAt: Date.parse(certificate.validTo) / 1000 };
}

const certificatePattern = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Reads when the certificate of a server ends, and the first of those that vouch for clients, in Unix seconds.
 * @throws CertificateError when the files cannot be used.
 */
export async function readCertificateEnds(
  settings: TlsSettings,
): Promise<{ cert: number; clientCa: number | undefined }> {
  const { endsAt, clientCa } = identityOf(settings, await readFiles(settings));
  const all = clientCa?.toString("latin1").match(certificatePattern) ?? [];
  const ends = all.map((text) => Date.parse(new X509Certificate(text).validTo) / 1000);
  return { cert: endsAt, clientCa: ends.length === 0 ? undefined : Math.min(...ends) };
}

/** The server's certificate: read at the start, and again whenever its files change. */
export class Certificate {
  readonly #deps: Pick<Deps, "log" | "metrics">;
  #settings: TlsSettings;
  #used: Identity;
  /** What was found at the last look, if it is not in use, and whether it was refused. */
  #found: { digest: string; isRefused: boolean } | undefined;
  #server: Server | undefined;
  #timer: NodeJS.Timeout | undefined;

  private constructor(deps: Pick<Deps, "log" | "metrics">, settings: TlsSettings, used: Identity) {
    this.#deps = deps;
    this.#settings = settings;
    this.#used = used;
  }

  /** Reads the files. @throws CertificateError when they cannot be used. */
  static async open(deps: Pick<Deps, "log" | "metrics">, settings: TlsSettings): Promise<Certificate> {
    const used = identityOf(settings, await readFiles(settings));
    if (used.endsAt * 1000 <= Date.now())
      deps.log.error({ file: settings.cert }, "the certificate has expired: clients will refuse it");
    const certificate = new Certificate(deps, settings, used);
    const { metrics } = deps;
    showGauge(
      metrics,
      {
        name: "waybill_tls_certificate_expiry_timestamp_seconds",
        help: "When the certificate that is in use expires, in Unix seconds",
      },
      () => certificate.#used.endsAt,
    );
    showGauge(
      metrics,
      {
        name: "waybill_tls_certificate_refused",
        help: "1 while the files of the certificate hold what cannot be used, and what they held before is in use",
      },
      () => (certificate.#found?.isRefused === true ? 1 : 0),
    );
    return certificate;
  }

  /** What makes a server that speaks TLS with it, and HTTP/1.1 on top. */
  get options(): ServerOptions {
    return { ...this.#context, ALPNProtocols: ["http/1.1"] };
  }

  get #context() {
    const { cert, key, clientCa } = this.#used;
    const asking = { ca: clientCa, requestCert: true, rejectUnauthorized: false };
    return { cert, key, minVersion: oldest, ...(clientCa === undefined ? {} : asking) };
  }

  /** Gives a server what the files hold from now on. */
  attach(app: FastifyInstance): void {
    this.#server = app.server as unknown as Server;
    this.#timer = setInterval(() => void this.#look(), lookEveryMs).unref();
    app.addHook("onClose", async () => clearInterval(this.#timer));
  }

  /**
   * Reads other files, or the same again.
   * @returns what makes the server use them; nothing has changed before that is called.
   * @throws CertificateError when they cannot be used.
   */
  async prepare(settings: TlsSettings): Promise<() => void> {
    const next = await this.#acceptable(settings, await readFiles(settings));
    return () => {
      this.#settings = settings;
      if (next.digest !== this.#used.digest) this.#use(next);
    };
  }

  async #acceptable(settings: TlsSettings, files: Files): Promise<Identity> {
    const next = identityOf(settings, files);
    if (next.digest !== this.#used.digest && next.endsAt * 1000 <= Date.now())
      throw new CertificateError(`The certificate in ${settings.cert} has expired`);
    return next;
  }

  #use(next: Identity): void {
    this.#used = next;
    this.#found = undefined;
    this.#server?.setSecureContext(this.#context);
    const until = new Date(next.endsAt * 1000).toISOString();
    this.#deps.log.info({ file: this.#settings.cert, until }, "the certificate was replaced");
  }

  async #look(): Promise<void> {
    const settings = this.#settings;
    try {
      const files = await readFiles(settings);
      if (settings !== this.#settings) return;
      const before = this.#found;
      if (files.digest === this.#used.digest) this.#found = undefined;
      else if (before?.digest !== files.digest) this.#found = { digest: files.digest, isRefused: false };
      else if (!before.isRefused) this.#use(await this.#acceptable(settings, files));
    } catch (error) {
      this.#refuse(error as Error);
    }
  }

  #refuse(error: Error): void {
    const found = this.#found;
    // A file may be away for the moment in which it is replaced.
    this.#found = { digest: found?.digest ?? "", isRefused: found !== undefined };
    if (found === undefined || found.isRefused) return;
    const reason = error instanceof CertificateError ? error.message : "it cannot be used";
    this.#deps.log.error({ reason }, "the new certificate is refused, the one before stays in use");
  }
}

/**
 * Says whether the other end of a connection has shown a certificate of the authority that is set. The certificate itself is looked for, too: a
 * session that is resumed counts as authorized without one (Node's `authorized`).
 */
function hasClientCertificate(socket: Socket): boolean {
  return socket instanceof TLSSocket && socket.authorized && socket.getPeerX509Certificate() !== undefined;
}

/** Says whether API keys count on the connection of a request: not without a client certificate where one is needed. */
export function mayUseKeys({ config }: Pick<Deps, "config">, request: FastifyRequest): boolean {
  return config.tls?.clientCa === undefined || hasClientCertificate(request.raw.socket);
}
