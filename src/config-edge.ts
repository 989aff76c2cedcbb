import { compile } from "@fastify/proxy-addr";
import { z } from "zod";

/** What stands between callers and this server. */
export interface EdgeConfig {
  /**
   * Proxies whose `X-Forwarded-For` is believed: their networks (CIDR, or `loopback`, `linklocal`, `uniquelocal`), or how many of them every
   * request comes through; undefined: none is.
   */
  trustedProxies: TrustedProxies | undefined;
}

export type TrustedProxies = string[] | number;

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
};

const Settings = z.object(edgeVariables);

/** Reads what stands in front of this server. */
export function edgeConfig(set: z.output<typeof Settings>): EdgeConfig {
  return { trustedProxies: set.WAYBILL_TRUSTED_PROXIES };
}
