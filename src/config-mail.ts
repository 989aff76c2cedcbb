import { z } from "zod";

import { url } from "./config-servers.ts";
import { isLoopbackHost } from "./lib/network.ts";
import { parseUrl, percentDecoded } from "./lib/url.ts";

/** The operator's mail server. */
export interface SmtpSettings {
  host: string;
  port: number;
  /** TLS from the beginning; else it is begun when the server offers it. */
  secure: boolean;
  /** Refuses to go on without TLS. */
  requireTls: boolean;
  user: string | undefined;
  password: string | undefined;
  /** Sender of every message: an address, with or without a name. */
  from: string;
}

/** An address, bare or as `Name <address>`, in one line. */
const mailSender = /^(?:[^<>@\r\n]{1,100}<[^\s<>@]{1,64}@[^\s<>@]{1,189}>|[^\s<>@]{1,64}@[^\s<>@]{1,189})$/;
/** The variables that say who sends mail. */
export const mailVariables = {
  WAYBILL_SMTP_URL: url(["smtp:", "smtps:"])
    .refine((text) => (parseUrl(text)?.hostname ?? "") !== "", "must name a host")
    .refine((text) => !/%(?![0-9a-f]{2})/i.test(text), "must have % in user and password written as %25")
    .optional(),
  WAYBILL_MAIL_FROM: z
    .string()
    .regex(mailSender, "must be an address, for instance Waybill <waybill@example.org>")
    .optional(),
};

const Settings = z.object(mailVariables);

/** Says what of the settings of mail is missing: one of the two alone sends nothing. */
export function smtpMistakes(set: z.output<typeof Settings>): string[] {
  const [server, sender] = [set.WAYBILL_SMTP_URL, set.WAYBILL_MAIL_FROM];
  if ((server === undefined) === (sender === undefined)) return [];
  return server === undefined
    ? ["WAYBILL_SMTP_URL must be set, because WAYBILL_MAIL_FROM is"]
    : ["WAYBILL_MAIL_FROM must be set, because WAYBILL_SMTP_URL is"];
}

const submissionPort = 587;
const securePort = 465;

/** Reads how mail is sent; undefined: not at all. */
export function smtpSettings(set: z.output<typeof Settings>): SmtpSettings | undefined {
  const server = parseUrl(set.WAYBILL_SMTP_URL ?? "");
  if (server === undefined || set.WAYBILL_MAIL_FROM === undefined) return undefined;
  const secure = server.protocol === "smtps:";
  const host = server.hostname.replace(/^\[|\]$/g, "");
  const user = server.username === "" ? undefined : percentDecoded(server.username);
  return {
    host,
    port: server.port === "" ? (secure ? securePort : submissionPort) : Number(server.port),
    secure,
    // A password is not sent in the clear, except to this machine.
    requireTls: !secure && user !== undefined && !isLoopbackHost(host),
    user,
    password: user === undefined ? undefined : percentDecoded(server.password),
    from: set.WAYBILL_MAIL_FROM,
  };
}
