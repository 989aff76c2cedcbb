import { isIP } from "node:net";

import { compile } from "@fastify/proxy-addr";
import type { FastifyInstance, FastifyRequest } from "fastify";

import type { TrustedProxies } from "../config-edge.ts";
import type { Route } from "../domain/route.ts";
import { isLoopbackAddress, networkOf } from "../lib/network.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Address of who sent the request: the nearest one that is no trusted proxy. */
    clientAddress: string;
  }
}

/** Says whether what the peer at this address passes on is believed; `hop` counts the peers, from 0 for the connection's own. */
export type ProxyTrust = (address: string, hop: number) => boolean;

/** Makes the rule whom to believe. */
export function trustOf(proxies: TrustedProxies | undefined): ProxyTrust {
  if (proxies === undefined) return () => false;
  return typeof proxies === "number" ? (_address, hop) => hop < proxies : compile(proxies);
}

/** Makes the rule whom to believe by a configuration that may change. */
export function currentTrust(config: { readonly trustedProxies: TrustedProxies | undefined }): ProxyTrust {
  let made = { proxies: config.trustedProxies, trust: trustOf(config.trustedProxies) };
  return (address, hop) => {
    const { trustedProxies: proxies } = config;
    if (made.proxies !== proxies) made = { proxies, trust: trustOf(proxies) };
    return made.trust(address, hop);
  };
}

/** An address of `X-Forwarded-For` without the port that some proxies write; undefined for what is no address. */
function bareAddress(text: string): string | undefined {
  const [, v6, v4] = /^(?:\[([^\]]*)\]|(\d+(?:\.\d+){3}))(?::\d{1,5})?$/.exec(text) ?? [];
  const bare = v6 ?? v4 ?? text;
  return isIP(bare) === 0 ? undefined : bare;
}

/**
 * Finds who sent a request among those it came through.
 * @param addresses the connection's own first, then what each trusted proxy wrote. The last one is the sender; where it is no address, the
 *   proxy that wrote it stands for the sender.
 */
export function senderOf(addresses: readonly string[]): string {
  const known = addresses.map(bareAddress).filter((address) => address !== undefined);
  return known.at(-1) ?? addresses[0] ?? "";
}

/** Lists whom a request came through: Fastify does so where it trusts proxies. */
function addressesOf({ ip, ips }: FastifyRequest): string[] {
  return ips ?? [ip];
}

/**
 * Says whether a request comes from this machine: no proxy that is not trusted passed it on, and none that is trusted did so for another
 * machine. Headers that a stranger writes can only say no.
 */
export function isFromThisMachine(request: FastifyRequest): boolean {
  const { headers, raw } = request;
  const addresses = addressesOf(request);
  if (headers.forwarded !== undefined) return false;
  if (headers["x-forwarded-for"] !== undefined && addresses.length === 1) return false;
  return addresses.every((address) => isLoopbackAddress(address) || address === raw.socket.localAddress);
}

/** Tells by which way a request came. */
export function routeOf(request: FastifyRequest): Route {
  const addresses = addressesOf(request);
  const forwarded = request.headers["x-forwarded-for"];
  return {
    peer: addresses[0] ?? "",
    address: request.clientAddress,
    is_trusted: addresses.length > 1,
    forwarded_for: forwarded === undefined ? null : String(forwarded),
  };
}

/** Names what limits count a request for whose caller is not known: its sender's network. */
export function addressShare({ clientAddress }: FastifyRequest): string {
  return `address ${networkOf(clientAddress)}`;
}

/** Finds out who sent each request, before anything else asks. */
export function registerClientAddress(app: FastifyInstance): void {
  app.decorateRequest("clientAddress", "");
  app.addHook("onRequest", async (request) => {
    request.clientAddress = senderOf(addressesOf(request));
  });
}
