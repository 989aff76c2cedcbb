import { linkAnnouncement } from "../../../domain/sign-in/announcement.ts";
import { getAdministratorAddresses } from "../../identity/users/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { sendMail } from "./mail.ts";

/** A link for an emergency, of which administrators are told. */
export interface AnnounceLinkJob {
  /** Stays the same when the message is sent again. */
  id: string;
  /** Whom the link signs in. */
  user: string;
  /** Unix seconds. */
  made_at: number;
}

const timeoutMs = 30_000;

/** Tells all who run the installation by mail of a link that signs in at the public URL; nobody where no mail server is set. */
export async function announceLink(
  deps: Pick<Deps, "config" | "db" | "log">,
  job: AnnounceLinkJob,
): Promise<void> {
  const { smtp, publicUrl } = deps.config;
  if (smtp === undefined) return;
  const to = await getAdministratorAddresses(deps);
  if (to.length === 0) return;
  const body = linkAnnouncement({ ...job, public_url: publicUrl });
  const refused = await sendMail(smtp, { ...body, to, id: `sign-in-link-${job.id}` }, timeoutMs);
  if (refused.length > 0)
    deps.log.warn({ refused: refused.length }, "administrators were not told of a sign-in link");
}
