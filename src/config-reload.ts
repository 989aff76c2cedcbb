import { type Config, configOf, isSetting, readVariables, type Variables } from "./config.ts";
import { readSettingsFile } from "./config-files.ts";

/** Settings that a server takes up while it runs. */
const reloadable: ReadonlySet<string> = new Set([
  "WAYBILL_LOG_LEVEL",
  "WAYBILL_TRUSTED_PROXIES",
  "WAYBILL_RATE_LIMIT_PER_KEY",
  "WAYBILL_RATE_LIMIT_PER_ADDRESS",
  "WAYBILL_FAILED_KEYS_PER_ADDRESS",
  "WAYBILL_MAX_CONNECTIONS_PER_ADDRESS",
  "WAYBILL_BODY_STALL_SECONDS",
  "WAYBILL_BODY_MIN_RATE",
  "WAYBILL_BODY_SECONDS",
  "WAYBILL_UNREAD_SECONDS",
  "WAYBILL_OIDC_ROLES",
]);

/** Files of the certificate: others can take their place, but not none. */
const files: ReadonlySet<string> = new Set(["WAYBILL_TLS_CERT", "WAYBILL_TLS_KEY", "WAYBILL_TLS_CLIENT_CA"]);

/** What has changed since the settings were read, by their names. */
export interface Reloading {
  /** The configuration with all that can be taken up. */
  config: Config;
  changed: string[];
  needRestart: string[];
  /** Takes it for what is in force from now on. */
  accept(): void;
}

/** The settings of a process, which it can read again: the files it was given may have changed, its environment cannot. */
export class Settings {
  readonly config: Config;
  readonly #environment: Variables;
  #current: Variables;

  /** Reads them. @throws ConfigError naming every mistake at once. */
  constructor(environment: Variables = process.env) {
    this.#current = readVariables(environment);
    this.config = configOf(this.#current);
    // What the environment has from that file, as systemd does it, is the file's: it may say otherwise later.
    const file = readSettingsFile(environment);
    this.#environment = Object.fromEntries(
      Object.entries(environment).filter(([name, value]) => value !== file[name]),
    );
  }

  /** Reads them again; nothing is in force yet. @throws ConfigError naming every mistake at once. */
  reload(): Reloading {
    const next = readVariables(this.#environment);
    configOf(next);
    const names = [...new Set([...Object.keys(this.#current), ...Object.keys(next)])].toSorted();
    const differing = names.filter((name) => isSetting(name) && this.#current[name] !== next[name]);
    const changed = differing.filter((name) => this.#canTakeUp(name, next));
    const taken = { ...this.#current, ...Object.fromEntries(changed.map((name) => [name, next[name]])) };
    return {
      config: configOf(taken),
      changed,
      needRestart: differing.filter((name) => !changed.includes(name)),
      accept: () => {
        this.#current = taken;
      },
    };
  }

  #canTakeUp(name: string, next: Variables): boolean {
    if (!files.has(name)) return reloadable.has(name);
    return this.#current[name] !== undefined && next[name] !== undefined;
  }
}

/** Puts what can be taken up of a configuration into the one that is in force. */
export function takeUp(config: Config, next: Config): void {
  const { logLevel, trustedProxies, rateLimitPerKey, rateLimitPerAddress, failedKeysPerAddress } = next;
  const { tls, isPlainTextUnsafe } = next;
  Object.assign(config, { logLevel, trustedProxies, rateLimitPerKey, rateLimitPerAddress });
  Object.assign(config, { failedKeysPerAddress, tls, isPlainTextUnsafe });
  const { connectionsPerAddress, stallSeconds, bodyRate, bodySeconds, unreadSeconds } = next.intake;
  Object.assign(config.intake, { connectionsPerAddress, stallSeconds, bodyRate, bodySeconds, unreadSeconds });
  if (config.oidc !== undefined && next.oidc !== undefined) config.oidc.rules = next.oidc.rules;
}
