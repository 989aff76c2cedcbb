import { plainWords } from "./words.ts";

/** How something stands, as the server says it. */
export type Health = "ok" | "degraded" | "failing";

/** What the server looked at, and what it found. */
interface Checked {
  name: string;
  status: Health;
}

const words: Readonly<Record<string, string>> = {
  pool: "Connections to the database",
  database: "Database",
  database_version: "Database version",
  replica: "Read replica",
  migrations: "Migrations",
  deliveries: "Notifications",
  data_disk: "Disk of the data",
  evidence_disk: "Disk of the evidence",
  evidence: "Evidence storage",
  secret_key: "Secret key",
  clock: "Clock",
  jobs: "Background jobs",
  backups: "Backups",
  wal_archive: "Archive of the write-ahead log",
  quarantine: "Quarantine",
};

/** Says what a check is about. One that is not known yet is called as the server calls it. */
export function checkWords(name: string): string {
  return words[name] ?? plainWords(name);
}

const urgency: readonly Health[] = ["failing", "degraded", "ok"];

/** Puts checks in order: what does not work first, then what somebody should look at. */
export function mostUrgentFirst<C extends Checked>(checks: readonly C[]): C[] {
  return checks.toSorted((one, other) => urgency.indexOf(one.status) - urgency.indexOf(other.status));
}

/** Sums up what was found, in a sentence without its end. */
export function healthInWords(checks: readonly Checked[]): string {
  const count = (status: Health): number => checks.filter((one) => one.status === status).length;
  const [failing, degraded] = [count("failing"), count("degraded")];
  const parts = [
    failing === 0 ? undefined : `${failing} ${failing === 1 ? "check fails" : "checks fail"}`,
    degraded === 0 ? undefined : `${degraded} ${degraded === 1 ? "needs" : "need"} attention`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? `All ${checks.length} checks are well` : parts.join(", ");
}
