import { compile } from "@fastify/proxy-addr";
import { z } from "zod";

import { flag, whole } from "./config-limits.ts";

/** What stands between callers and this server. */
export interface EdgeConfig {
  /**
   * Proxies whose `X-Forwarded-For` is believed: their networks (CIDR, or `loopback`, `linklocal`, `uniquelocal`), or how many of them every
   * request comes through; undefined: none is.
   */
  trustedProxies: TrustedProxies | undefined;
  /** What the server speaks TLS with; undefined: it speaks plain HTTP. */
  tls: TlsSettings | undefined;
  /** Whether plain HTTP must not leave this machine: people sign in, and nothing is known to stand in front. */
  isPlainTextUnsafe: boolean;
  /** Descriptor of the socket that whoever started the process listens on for it; undefined: the server opens its own. */
  inheritedSocket: number | undefined;
  /** Whether what started the process wants to be told when the server is ready (sd_notify). */
  isNotifying: boolean;
  /** Seconds for which a server that stops still lets others in while it says that it is not ready. */
  drainSeconds: number;
}

export type TrustedProxies = string[] | number;

/** Files in PEM. */
export interface TlsSettings {
  /** The server's certificate, and those between it and its authority. */
  cert: string;
  key: string;
  /** Authorities whose certificates API keys have to come with; undefined: they come without. */
  clientCa: string | undefined;
}

const mostHops = 10;

function areNetworks(list: string[]): boolean {
  try {
    compile(list);
    return true;
  } catch {
    return false;
  }
}

/** The variables that say what stands in front. */
export const edgeVariables = {
  WAYBILL_TRUSTED_PROXIES: z
    .string()
    .transform((text): TrustedProxies =>
      /^\d{1,2}$/.test(text) ? Number(text) : text.split(",").map((one) => one.trim()),
    )
    .refine(
      (proxies) => (typeof proxies === "number" ? proxies >= 1 && proxies <= mostHops : areNetworks(proxies)),
      `must be addresses and networks with commas between (10.0.0.0/8, loopback), or a number of proxies from 1 to ${mostHops}`,
    )
    .optional(),
  WAYBILL_TLS_CERT: z.string().min(1).optional(),
  WAYBILL_TLS_KEY: z.string().min(1).optional(),
  WAYBILL_TLS_CLIENT_CA: z.string().min(1).optional(),
  WAYBILL_INSECURE_HTTP: flag.optional(),
  WAYBILL_DRAIN_SECONDS: whole(0, 3_600).optional(),
  NOTIFY_SOCKET: z.string().optional(),
  LISTEN_FDS: z.string().optional(),
  LISTEN_PID: z.string().optional(),
};

const Settings = z.object(edgeVariables);
/** With what it depends on whether people sign in at a provider. */
type Settings = z.output<typeof Settings> & { WAYBILL_OIDC_ISSUER?: string | undefined };

/** First descriptor of those that are handed over: sd_listen_fds(3). */
const firstDescriptor = 3;

/** Says how many sockets were handed over to this very process, and not to one that started it. */
function socketsHandedOver({ LISTEN_FDS: count, LISTEN_PID: pid }: Settings): string {
  return count === undefined || pid !== String(process.pid) ? "0" : count;
}

function isPlainTextUnsafe(set: Settings): boolean {
  const { WAYBILL_OIDC_ISSUER: issuer, WAYBILL_TLS_CERT: cert, WAYBILL_TRUSTED_PROXIES: proxies } = set;
  return (
    issuer !== undefined && cert === undefined && proxies === undefined && set.WAYBILL_INSECURE_HTTP !== true
  );
}

/** Says why plain HTTP is refused, and what to do. */
export const plainTextRefusal =
  "people sign in at a provider, and plain HTTP would leave this machine: set WAYBILL_TLS_CERT and WAYBILL_TLS_KEY, or WAYBILL_TRUSTED_PROXIES where a proxy speaks TLS, or WAYBILL_INSECURE_HTTP=1 where nobody can listen";

function tlsMistakes(set: Settings, publicUrl: string | undefined): string[] {
  const { WAYBILL_TLS_CERT: cert, WAYBILL_TLS_KEY: key, WAYBILL_TLS_CLIENT_CA: clientCa } = set;
  const given = [
    ["WAYBILL_TLS_CERT", cert],
    ["WAYBILL_TLS_KEY", key],
  ] as const;
  const because = [...given, ["WAYBILL_TLS_CLIENT_CA", clientCa] as const].find(
    ([, file]) => file !== undefined,
  );
  if (because === undefined) return [];
  const missing = given
    .filter(([, file]) => file === undefined)
    .map(([name]) => `${name} must be set, because ${because[0]} is`);
  if (publicUrl?.startsWith("http:") === true)
    missing.push(`WAYBILL_PUBLIC_URL must start with https://, because ${because[0]} is set`);
  return missing;
}

/**
 * Lists what does not go together, a sentence each.
 * @param isLocal whether the address to listen on is this machine's alone.
 */
export function edgeMistakes(
  set: Settings,
  { isLocal, publicUrl }: { isLocal: boolean; publicUrl: string | undefined },
): string[] {
  const mistakes = tlsMistakes(set, publicUrl);
  const sockets = socketsHandedOver(set);
  if (!["0", "1"].includes(sockets)) mistakes.push("LISTEN_FDS must be 1: the server listens on one socket");
  // Where a socket listens that was handed over is known later.
  if (isPlainTextUnsafe(set) && !isLocal && sockets === "0")
    mistakes.push(`HOST must be an address of this machine alone: ${plainTextRefusal}`);
  return mistakes;
}

/** Reads what stands in front of this server. */
export function edgeConfig(set: Settings): EdgeConfig {
  return {
    trustedProxies: set.WAYBILL_TRUSTED_PROXIES,
    tls:
      set.WAYBILL_TLS_CERT === undefined || set.WAYBILL_TLS_KEY === undefined
        ? undefined
        : { cert: set.WAYBILL_TLS_CERT, key: set.WAYBILL_TLS_KEY, clientCa: set.WAYBILL_TLS_CLIENT_CA },
    isPlainTextUnsafe: isPlainTextUnsafe(set),
    inheritedSocket: socketsHandedOver(set) === "1" ? firstDescriptor : undefined,
    isNotifying: set.NOTIFY_SOCKET !== undefined,
    drainSeconds: set.WAYBILL_DRAIN_SECONDS ?? 0,
  };
}
