import { randomUUID } from "node:crypto";

import type { Config } from "../config.ts";
import { isLoopbackAddress, reachableHost } from "../lib/network.ts";
import { createSignInToken } from "../modules/identity/sessions/service.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { type CommandDeps, commandActor } from "./command-deps.ts";
import { print } from "./output.ts";

type Addresses = Pick<Config, "host" | "port" | "publicUrl" | "tls">;

/**
 * Finds the address at which this machine itself reaches the pages. The public one when that is this machine's own, because
 * browsers keep the cookies of `localhost` and `127.0.0.1` apart, and links on pages are public ones.
 */
export function localAddress({ host, port, publicUrl, tls }: Addresses): string {
  const { hostname, pathname, port: publicPort } = new URL(publicUrl);
  const isLocal = hostname === "localhost" || isLoopbackAddress(hostname.replace(/^\[|\]$/g, ""));
  if (isLocal && publicPort !== "0") return publicUrl;
  return `${tls === undefined ? "http" : "https"}://${reachableHost(host)}:${port}${pathname.replace(/\/+$/, "")}`;
}

/** Writes the link of a token. What follows `#` is never sent to a server, so that no log of one has it. */
function linkOf(address: string, token: string): string {
  return `${address}/-/sign-in#token=${token}`;
}

/** Whom a link signs in, and where it works. */
export interface LinkOptions {
  /** The first administrator unless given. */
  user?: string | undefined;
  /** On this machine alone, also for a user who is named. */
  local?: boolean;
}

/**
 * Runs `waybill admin sign-in-link`: prints a link that signs in once, and nothing else. For a user who is named it works at the public URL, and
 * all administrators are told; otherwise on this machine alone.
 */
export async function signInLink(deps: CommandDeps, { user, local = false }: LinkOptions): Promise<void> {
  const actor = commandActor("admin sign-in-link");
  const { publicUrl } = deps.config;
  const isPublic = user !== undefined && !local;
  const { token } = await createSignInToken(deps, actor, {
    user,
    public_url: isPublic ? publicUrl : undefined,
  });
  print.line(linkOf(isPublic ? publicUrl : localAddress(deps.config), token));
}

async function makeLink(deps: Pick<Deps, "db" | "clock" | "log">, addresses: Addresses) {
  const actor = { ...commandActor("serve"), name: "waybill serve", request_id: randomUUID() };
  try {
    const { token } = await createSignInToken(deps, actor);
    return linkOf(localAddress(addresses), token);
  } catch (error) {
    // Nobody to sign in, a database that takes nothing, a time in doubt: people can sign in otherwise, or later.
    deps.log.debug({ err: error }, "no sign-in link was made");
    return undefined;
  }
}

const usualWay = ({ oidc }: Config): string =>
  oidc?.isRequired === true ? `at ${new URL(oidc.issuer).host}` : "with an API key";

/**
 * Tells the person at the terminal where the web app is and how to sign in, in one line. Only a terminal shows a link: other outputs
 * end up in files that others of this machine may read.
 * @param listening the address that the server listens on.
 */
export async function tellHowToSignIn(
  deps: Pick<Deps, "config" | "db" | "clock" | "log">,
  listening: string,
  terminal = process.stdout.isTTY,
): Promise<void> {
  const addresses = { ...deps.config, port: Number(new URL(listening).port) };
  const link = terminal ? await makeLink(deps, addresses) : undefined;
  print.line(
    link === undefined
      ? `Web app: ${localAddress(addresses)}/ (sign in ${usualWay(deps.config)}, or with the link that \`waybill admin sign-in-link\` prints)`
      : `Web app: ${link} (signs in once, from this machine, within ten minutes)`,
  );
}
