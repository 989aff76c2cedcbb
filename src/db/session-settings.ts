/** What the program takes for granted of every connection. */
const settings = {
  timezone: "UTC",
  client_min_messages: "warning",
  statement_timeout: "60000",
  idle_in_transaction_session_timeout: "60000",
} as const;

const entries = Object.entries(settings);

/** The settings as a connection to PostgreSQL itself gets them, with its start. */
export const startupOptions = entries.map(([name, value]) => `-c ${name}=${value}`).join(" ");

/** Sets them for as long as the connection lasts. */
export const setForSession = entries.map(([name, value]) => `set ${name} = '${value}'`).join("; ");

/** Begins a transaction and sets them for it alone, in one message. */
export const beginWithSettings = [
  "begin",
  ...entries.map(([name, value]) => `set local ${name} = '${value}'`),
].join("; ");

/** Says whether they are in force: a pooler may leave out what it was asked for. In a row with the column `in_force`. */
export const selectInForce = `select ${entries
  .map(([name, value]) => `current_setting('${name}')::text = '${shownAs(name, value)}'`)
  .join(" and ")} as in_force, pg_backend_pid() as pid`;

/** PostgreSQL shows milliseconds in the largest unit that fits. */
function shownAs(name: string, value: string): string {
  return name.endsWith("_timeout") ? `${Number(value) / 60_000}min` : value;
}

/** Has PostgreSQL notice within some ten seconds that a machine went away, which closes no connection. */
export const noticeLoss =
  "set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3";
