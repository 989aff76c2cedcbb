import type { SmtpSettings } from "../../../config-mail.ts";
import type { Tx } from "../../../db/connect.ts";
import { enqueueAll } from "../../../db/jobs.ts";
import { transaction } from "../../../db/transaction.ts";
import { type KeyNoticeKind, keyNoticeMail } from "../../../domain/key-notices.ts";
import type { Actor } from "../../../domain/principal.ts";
import { wireId } from "../../../lib/ids.ts";
import { endUnused, recordExpired, warnOfUnused } from "../../kernel/access/unused-service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { isRefusal, sendMail } from "../notifications/mail.ts";
import { putBack, type Sender, takePlace } from "../notifications/places.ts";
import {
  type AddressedKeyRow,
  findAddressed,
  insertEnding,
  insertNewNetworks,
  insertUnused,
  mailTask,
  type NoticeRow,
} from "./store.ts";

export { mailTask };

/** Notices made in one transaction, and transactions in one run of the job: what is left waits for the next hour. */
const budget = { batch: 200, rounds: 10 };

const mailTimeoutMs = 15_000;

type NoticeDeps = Pick<Deps, "db" | "clock" | "config" | "ids">;

function actorOf({ ids }: Pick<Deps, "ids">): Actor {
  const action = "notice_keys";
  const request_id = wireId(ids.next());
  return {
    kind: "system",
    id: null,
    name: "system",
    api_key_id: null,
    action,
    request_id,
    request_digest: null,
  };
}

/** Says under which key a job is queued, and with what. */
function jobOf({ key_id, kind, about, to }: Omit<MailJob, "postponed">) {
  const key = `${mailTask} ${key_id} ${kind} ${about}`;
  return to === undefined
    ? { payload: { key_id, kind, about }, key }
    : { payload: { key_id, kind, about, to }, key: `${key} ${to}` };
}

/** Queues a mail for each notice, where there is somebody to send it. */
async function queueMails(deps: NoticeDeps, tx: Tx, notices: readonly NoticeRow[]): Promise<void> {
  if (deps.config.smtp === undefined) return;
  await enqueueAll(
    tx,
    mailTask,
    notices.map(({ key_id, kind, about }) => jobOf({ key_id, kind, about })),
  );
}

type Step = (deps: NoticeDeps, tx: Tx) => Promise<NoticeRow[]>;

/** Notices keys whose ends are near, and records those that have ended. */
const noticeEnds: Step = async (deps, tx) => {
  const notices = await insertEnding(tx, deps.clock.now(), budget.batch);
  await queueMails(deps, tx, notices);
  const actor = actorOf(deps);
  for (const { key_id: id, kind, org_id, account } of notices)
    if (kind === "ended") recordExpired(deps, tx, actor, { id, org_id, account });
  return notices;
};

const noticeNetworks: Step = async (deps, tx) => {
  const notices = await insertNewNetworks(tx, deps.clock.now(), budget.batch);
  await queueMails(deps, tx, notices);
  return notices;
};

const noticeUnused: Step = async (deps, tx) => {
  const keys = await warnOfUnused(deps, tx, { limit: budget.batch });
  const notices = await insertUnused(tx, "unused", keys, deps.clock.now());
  await queueMails(deps, tx, notices);
  return notices;
};

const endUnusedKeys: Step = async (deps, tx) => {
  const keys = await endUnused(deps, tx, { limit: budget.batch });
  const notices = await insertUnused(tx, "ended_unused", keys, deps.clock.now());
  await queueMails(deps, tx, notices);
  const actor = actorOf(deps);
  for (const key of keys) recordExpired(deps, tx, actor, key);
  return notices;
};

/**
 * Looks once for keys whose owners are to be told something, and ends those that nobody used since they were told: some thousand at most. What is
 * noticed is noticed once, with the mail that tells it, however many servers look and however often they are killed.
 */
export async function noticeKeys(deps: NoticeDeps): Promise<void> {
  for (const step of [noticeEnds, noticeNetworks, endUnusedKeys, noticeUnused])
    for (let round = 0; round < budget.rounds; round += 1) {
      const notices = await transaction(deps.db, (tx) => step(deps, tx));
      if (notices.length < budget.batch) break;
    }
}

/** What the job that mails a notice is told. */
export interface MailJob {
  key_id: string;
  kind: KeyNoticeKind;
  about: string;
  /** The user it is mailed to; left out where that is still to be found out. */
  to?: string;
  postponed?: Sender["postponed"];
}

const goneKinds: ReadonlySet<KeyNoticeKind> = new Set(["ended", "ended_unused"]);

/**
 * Tells a notice to the owner of a key and to administrators: finds them, each with a job of their own, so that one whose mail fails keeps nobody else waiting and
 * has nobody told twice; and mails it to one of them, or puts that off while other mails are under way. What has become untrue meanwhile is not told.
 */
export async function mailNotice(deps: Deps, job: MailJob): Promise<void> {
  const key = await findAddressed(deps.db, job.key_id);
  const { smtp } = deps.config;
  if (key === undefined || smtp === undefined) return;
  if (key.revoked_at !== null && !goneKinds.has(job.kind)) return;
  const { to, postponed } = job;
  if (to === undefined) {
    const jobs = key.recipients.map(({ id }) => jobOf({ ...job, to: id }));
    return transaction(deps.db, (tx) => enqueueAll(tx, mailTask, jobs));
  }
  const recipient = key.recipients.find(({ id }) => id === to);
  if (recipient === undefined) return;
  const place = await takePlace(deps, { kind: "keyMails", owner: mailTask, postponed });
  if ("comeAgain" in place) return putBack(deps, mailTask, jobOf(job), { postponed, delay: place.comeAgain });
  try {
    await mailTo(deps, smtp, { job, key, email: recipient.email });
  } finally {
    place.leave();
  }
}

/** Mails a notice to one address. One that the mail server has no mailbox for is logged, and not tried again. */
async function mailTo(
  { links, log }: Pick<Deps, "links" | "log">,
  smtp: SmtpSettings,
  { job, key, email }: { job: MailJob; key: AddressedKeyRow; email: string },
): Promise<void> {
  const { description, owner, org_name } = key;
  const url = links.web(org_name === null ? "/-/profile" : `/${org_name}/settings/security`);
  const body = keyNoticeMail({ kind: job.kind, about: job.about, description, owner, url });
  const id = `${wireId(job.key_id)}.${job.kind}.${Buffer.from(job.about).toString("hex")}`;
  try {
    // Everybody for themselves: they need not know of each other.
    await sendMail(smtp, { ...body, to: [email], id }, mailTimeoutMs);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    log.warn({ key: wireId(job.key_id) }, "the mail server refused an address");
  }
}
