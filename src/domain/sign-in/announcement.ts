import { escapeHtml, type MailBody } from "../notifications/message.ts";

/** Writes the message that tells administrators of a link for an emergency. @param link `made_at` in Unix seconds. */
export function linkAnnouncement(link: { user: string; made_at: number; public_url: string }): MailBody {
  const { user, public_url } = link;
  const at = new Date(link.made_at * 1000).toISOString();
  const sentences = [
    `At ${at} somebody at the command line of ${public_url} made a link that signs in as ${user}, once, within ten minutes.`,
    `If you do not know why, end the sessions of ${user}, and look who can log in to the server's machine.`,
  ];
  return {
    subject: `A link was made that signs in as ${user}`,
    text: `${sentences.join("\n\n")}\n`,
    html: sentences.map((sentence) => `<p>${escapeHtml(sentence)}</p>`).join(""),
  };
}
