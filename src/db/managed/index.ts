export { DataDirectoryInUseError, ManagedPostgresError } from "./errors.ts";
export { findManagedPostgres } from "./find.ts";
export type { ManagedConnection } from "./find.ts";
export { startManagedPostgres } from "./manage.ts";
export type { ManagedPostgres, ManagedPostgresOptions } from "./manage.ts";
