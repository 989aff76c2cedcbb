import { port } from "./socket.ts";

/** Full durability, a small memory footprint, and no statement text or parameter in the log: they may be secrets. */
const defaults: Readonly<Record<string, string>> = {
  cluster_name: "waybill",
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  // A page is written whole after each checkpoint; packed, that is a third of it.
  wal_compression: "on",
  max_wal_size: "2GB",
  checkpoint_completion_target: "0.9",
  max_connections: "100",
  shared_buffers: "128MB",
  io_method: "sync",
  jit: "off",
  max_parallel_workers_per_gather: "0",
  max_logical_replication_workers: "0",
  random_page_cost: "1.1",
  timezone: "UTC",
  log_timezone: "UTC",
  lc_messages: "C",
  log_destination: "stderr",
  logging_collector: "off",
  log_min_messages: "warning",
  log_checkpoints: "off",
  log_statement: "none",
  log_min_duration_statement: "-1",
  log_parameter_max_length: "0",
  log_parameter_max_length_on_error: "0",
  log_min_error_statement: "panic",
  // Without details: the detail of a constraint violation quotes the row.
  log_error_verbosity: "terse",
};

/** Settings that older versions refuse to start with, and the major version that brought each. */
const since: Readonly<Record<string, number>> = { io_method: 18 };

/**
 * Gives the command line settings of the postmaster of a major version. Nothing a caller, postgresql.conf or ALTER SYSTEM says opens the network:
 * the private socket is the only way in.
 */
export function postmasterArguments(
  extra: Readonly<Record<string, string>>,
  socketDirectory: string,
  major: number,
): string[] {
  const fixed = {
    listen_addresses: "",
    ssl: "off",
    port: String(port),
    // A list separated by commas; quoted, the path may contain anything.
    unix_socket_directories: `"${socketDirectory.replaceAll('"', '""')}"`,
    unix_socket_permissions: "0700",
  };
  return Object.entries({ ...defaults, ...extra, ...fixed })
    .filter(([name]) => (since[name] ?? 0) <= major)
    .flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}
