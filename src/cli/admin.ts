import { text } from "node:stream/consumers";

import { Command } from "commander";

import { readConfig } from "../config.ts";
import { forgetOldClusters } from "../db/managed/index.ts";
import { findQuarantine, releaseQuarantine } from "../db/restore-state.ts";
import { transaction } from "../db/transaction.ts";
import { partitionedTables } from "../domain/partitions.ts";
import { usualQuietDays } from "../modules/maintenance/partitions/removal-service.ts";
import { appendInstanceEntry } from "../modules/kernel/audit/service.ts";
import { takeOver, type VerifyOptions, verifyEvidence } from "./admin-evidence.ts";
import { distributeCommand } from "./admin-distribute.ts";
import { createOrg, createUserCommand, setRole, switchUser } from "./admin-identity.ts";
import {
  createKey,
  importKey,
  type KeyOptions,
  type LiftOptions,
  liftAddressesCommand,
} from "./admin-keys.ts";
import { dropJob, listJobs, retryJob } from "./admin-jobs.ts";
import { list, listed } from "./admin-lists.ts";
import { linkIdentityCommand, testMapping } from "./admin-oidc.ts";
import { partition, type PartitionOptions } from "./admin-partitions.ts";
import { acceptTime, type RepairOptions, repairTimesCommand } from "./admin-time.ts";
import { print } from "./output.ts";
import { signInLink } from "./sign-in.ts";
import { commandActor, withDatabase, withRunningServer } from "./command-deps.ts";

function organizationCommands(admin: Command): void {
  admin
    .command("create-org <name>")
    .description("create a shared organization")
    .requiredOption("--owner <user>", "who becomes its first admin")
    .option("--display-name <text>", "shown to people")
    .option("--public", "let anybody read it")
    .action((name: string, options) => withRunningServer((deps) => createOrg(deps, name, options)));
  admin
    .command("set-role <org> <user> <role>")
    .description("add a user to an organization, or change their role there")
    .action((org: string, user: string, role: string) =>
      withRunningServer((deps) => setRole(deps, org, { user, role })),
    );
}

function userCommands(admin: Command): void {
  admin
    .command("create-user <name>")
    .description("create a user with their personal organization")
    .option("--email <address>", "mail address")
    .option("--display-name <text>", "shown to people")
    .option("--instance-admin", "let them create organizations")
    .action((name: string, options) => withRunningServer((deps) => createUserCommand(deps, name, options)));
  for (const [name, disabled] of [
    ["disable-user", true],
    ["enable-user", false],
  ] as const)
    admin
      .command(`${name} <name>`)
      .description(
        disabled ? "make all keys of a user stop working" : "make the keys of a disabled user work again",
      )
      .action((user: string) => withRunningServer((deps) => switchUser(deps, user, { disabled })));
}

function signInCommand(admin: Command): void {
  admin
    .command("sign-in-link [user]")
    .description(
      "print a link that signs in once, within ten minutes: a user at the public URL, of which all administrators are told by mail; without a name the first administrator, from this machine",
    )
    .option("--local", "let it work from this machine alone, and tell nobody")
    .action((user: string | undefined, options: { local?: boolean }) =>
      withRunningServer((deps) => signInLink(deps, { user, ...options })),
    );
}

function oidcCommands(admin: Command): void {
  admin
    .command("oidc")
    .description("look after sign-in at an OpenID provider")
    .command("test")
    .description("print who would become what by the groups of their claims")
    .requiredOption("--claims <file>", "JSON: the claims of one person, or a list of them")
    .action(testMapping);
  admin
    .command("link-identity <user> <subject>")
    .description("say which user somebody of the sign-in provider is, by the subject of their tokens")
    .action((user: string, subject: string) =>
      withRunningServer((deps) => linkIdentityCommand(deps, user, subject)),
    );
}

function keyCommand(admin: Command, name: string, description: string): Command {
  return admin
    .command(name)
    .option("--user <name>", "the user who owns it")
    .option("--org <name>", "the organization of the service account that owns it")
    .option("--service-account <name>", "the service account that owns it")
    .option("--description <text>", "what it is for", "made on the command line")
    .option("--expires-at <time>", "Unix seconds or a date; the key never expires unless given")
    .description(description);
}

function keyCommands(admin: Command): void {
  keyCommand(admin, "create-key", "create an API key and print it").action((options: KeyOptions) =>
    withRunningServer((deps) => createKey(deps, options)),
  );
  keyCommand(admin, "import-key", "create an API key with a value of yours")
    .argument(
      "[value]",
      "20 to 512 printable ASCII characters without blanks; read from standard input unless given",
    )
    .addHelpText("after", "\nA value with a colon works as a bearer token, not with basic authentication.")
    .action(async (value: string | undefined, options: KeyOptions) => {
      const given = value ?? (await text(process.stdin)).trim();
      await withRunningServer((deps) => importKey(deps, given, options));
    });
  admin
    .command("lift-addresses")
    .description("let callers come from anywhere again, when a list of addresses locks everybody out")
    .option("--org <name>", "the organization whose list it is")
    .option("--instance", "the list of the whole installation")
    .action((options: LiftOptions) => withRunningServer((deps) => liftAddressesCommand(deps, options)));
}

function evidenceCommands(admin: Command): void {
  const evidence = admin.command("evidence").description("look after stored evidence");
  evidence
    .command("take-over")
    .description(
      "after a restore: say that the installation that was backed up is gone, and its evidence this one's alone",
    )
    .action(() => withDatabase(takeOver));
  evidence
    .command("verify")
    .description("read all stored evidence and report what is damaged, missing or belongs to nothing")
    .option("--remove-orphans", "remove what belongs to nothing, left by interrupted uploads")
    .option("--older-than <hours>", "leave alone what is younger", "24")
    .action((options: VerifyOptions) =>
      withRunningServer((deps) => verifyEvidence(deps, options), { anyTime: true }),
    );
}

function timeCommands(admin: Command): void {
  admin
    .command("accept-time")
    .description("tell servers that the clock is right, when they doubt it")
    .action(() => withRunningServer((deps) => acceptTime(deps), { anyTime: true }));
  admin
    .command("repair-times")
    .description("show what was written while the clock was ahead, or correct its times")
    .option("--apply", "change it, not only show it")
    .option(
      "--after <time>",
      "Unix seconds or a date from when on times are wrong; five minutes from now unless given",
    )
    .action((options: RepairOptions) =>
      withRunningServer((deps) => repairTimesCommand(deps, options), { anyTime: true }),
    );
}

function jobCommands(admin: Command): void {
  const jobs = admin
    .command("jobs")
    .description("look after background jobs that are no longer tried, with the server running or not");
  jobs
    .command("list")
    .description(
      "show jobs that were set aside because servers ended while they ran, or that failed for good",
    )
    .action(() => withDatabase(listJobs));
  jobs
    .command("retry <job>")
    .description("try one of them again")
    .action((job: string) => withDatabase((deps) => retryJob(deps, job)));
  jobs
    .command("drop <job>")
    .description("remove one of them without doing its work")
    .action((job: string) => withDatabase((deps) => dropJob(deps, job)));
}

function partitionCommand(admin: Command): void {
  admin
    .command("partition <table>")
    .description(
      `divide a large table by months while the server runs, one of ${partitionedTables.join(", ")}; goes on where it was interrupted`,
    )
    .option("--abandon", "give up a copy that is under way")
    .option("--remove-before <month>", "remove all its rows from before a month, such as 2026-03")
    .option(
      "--quiet-days <days>",
      `with it: a trail that was reported to within so many days may go on, and keeps its months, as does a target of audit logs that a server was to send to; ${usualQuietDays} unless given`,
    )
    .action((table: string, options: PartitionOptions) =>
      withRunningServer((deps) => partition(deps, table, options)),
    );
}

function quarantineCommand(admin: Command): void {
  admin
    .command("release-quarantine")
    .description("let a restored copy notify others, and do what is to be done by the clock")
    .action(() =>
      withDatabase(async (deps) => {
        const was = await transaction(deps.db, async (tx) => {
          const copy = await findQuarantine(tx);
          if (copy === undefined || !(await releaseQuarantine(tx))) return false;
          const resource = { resource_type: "backup", resource: copy };
          const actor = commandActor("release-quarantine");
          appendInstanceEntry(deps, tx, { actor, action: "quarantine_released", ...resource });
          return true;
        });
        print.line(
          was
            ? "Released: servers on this database tell others from now on"
            : "This is no copy in quarantine",
        );
      }),
    );
}

function oldClusterCommand(admin: Command): void {
  admin
    .command("forget-old-cluster")
    .description(
      "remove what was kept of the database when it was moved to another major version of PostgreSQL; servers do so after 30 days",
    )
    .action(async () => {
      const removed = await forgetOldClusters(readConfig().dataDir, 0);
      print.line(removed.length === 0 ? "There is no old database" : `Removed ${removed.join(", ")}`);
    });
}

/** Builds `waybill admin …`: what those who run the installation do beside the running server. */
export function adminCommand(): Command {
  const admin = new Command("admin").description("manage the running server's users, organizations and keys");
  organizationCommands(admin);
  userCommands(admin);
  keyCommands(admin);
  signInCommand(admin);
  oidcCommands(admin);
  evidenceCommands(admin);
  timeCommands(admin);
  jobCommands(admin);
  partitionCommand(admin);
  quarantineCommand(admin);
  oldClusterCommand(admin);
  admin
    .command("distribute")
    .description("spread the database over the nodes of its Citus cluster, with all servers stopped")
    .action(() => withDatabase(distributeCommand));
  admin
    .command("list <what>")
    .description(`show all ${listed.join(", ")}`)
    .action((what: string) => withRunningServer((deps) => list(deps, what), { anyTime: true }));
  return admin;
}
