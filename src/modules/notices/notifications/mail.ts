import type { SmtpSettings } from "../../../config-mail.ts";
import type { MailBody } from "../../../domain/notifications/message.ts";
import { loadPart } from "../../../lib/parts.ts";

/** A message to some people, who see each other's addresses. */
export interface Mail extends MailBody {
  to: string[];
  /** Stays the same when the message is sent again, so that mail programs can tell. */
  id: string;
}

const secondMs = 1000;

/** Says whether a mail server took a message for none of its recipients and never will: it has no such mailbox. */
export function isRefusal(error: unknown): boolean {
  const { code, command, permanent } = Object(error) as {
    code?: unknown;
    command?: unknown;
    permanent?: unknown;
  };
  return code === "EENVELOPE" && command === "RCPT TO" && permanent === true;
}

/**
 * Hands a message over to the operator's mail server, on a connection of its own.
 * @returns addresses the server refused; the others have it.
 * @throws when the server takes it for nobody, or cannot be reached.
 */
export async function sendMail(settings: SmtpSettings, mail: Mail, timeoutMs: number): Promise<string[]> {
  // Loaded only by who sends mail.
  const { createTransport } = await loadPart("mail", () => import("nodemailer"));
  const { host, port, secure, requireTls, user, password, from } = settings;
  const transport = createTransport({
    host,
    port,
    secure,
    requireTLS: requireTls,
    ...(user === undefined ? {} : { auth: { user, pass: password ?? "" } }),
    dnsTimeout: 5 * secondMs,
    connectionTimeout: 5 * secondMs,
    greetingTimeout: 5 * secondMs,
    socketTimeout: 10 * secondMs,
    // Names in a message are users' and must lead nowhere.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    const { id, to, subject, text, html } = mail;
    const { rejected } = await transport.sendMail({
      from,
      to,
      subject,
      text,
      html,
      messageId: `<${id}@waybill>`,
      headers: { "Auto-Submitted": "auto-generated" },
      signal: AbortSignal.timeout(timeoutMs),
    });
    return rejected;
  } finally {
    transport.close();
  }
}
