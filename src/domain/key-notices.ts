import type { MailBody } from "./notifications/message.ts";
import { escapeHtml } from "./notifications/message.ts";

/** What owners of keys, and administrators, are told of them: each once. */
export const keyNoticeKinds = [
  "ends_soon",
  "ends_in_3_days",
  "ends_in_1_day",
  "ended",
  "new_network",
  "unused",
  "ended_unused",
] as const;

export type KeyNoticeKind = (typeof keyNoticeKinds)[number];

/** A notice, and what people need to know which key it is about. */
export interface KeyNotice {
  kind: KeyNoticeKind;
  /** The end as ISO 8601, the network, or the last use as ISO 8601. */
  about: string;
  description: string;
  /** A user's name, or `organization/account`. */
  owner: string;
  /** The page where something can be done about it. */
  url: string;
}

function sentenceOf({ kind, about, description, owner }: KeyNotice): string {
  const key = `The API key “${description}” of ${owner}`;
  switch (kind) {
    case "ends_soon":
    case "ends_in_3_days":
    case "ends_in_1_day":
      return `${key} ends at ${about}`;
    case "ended":
      return `${key} ended at ${about}`;
    case "new_network":
      return `${key} was used from ${about} for the first time`;
    case "unused":
      return `${key} has not been used since ${about} and will end if it is not`;
    case "ended_unused":
      return `${key} has ended, because it had not been used since ${about}`;
  }
}

const subjects: Readonly<Record<KeyNoticeKind, string>> = {
  ends_soon: "An API key ends soon",
  ends_in_3_days: "An API key ends within 3 days",
  ends_in_1_day: "An API key ends within a day",
  ended: "An API key has ended",
  new_network: "An API key was used from a new network",
  unused: "An API key is not used",
  ended_unused: "An API key that was not used has ended",
};

/** Writes a notice of a key for people to read by e-mail. */
export function keyNoticeMail(notice: KeyNotice): MailBody {
  const sentence = sentenceOf(notice);
  return {
    subject: `${subjects[notice.kind]}: ${notice.owner}`.replace(/\s+/g, " "),
    text: `${sentence}.\n\n${notice.url}\n`,
    html: `<p>${escapeHtml(sentence)}.</p><p><a href="${escapeHtml(notice.url)}">${escapeHtml(notice.url)}</a></p>`,
  };
}
