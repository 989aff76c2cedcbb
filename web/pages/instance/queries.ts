import { alone, ask } from "../../api/queries.ts";
import { positive, reads, text } from "../../domain/search-params.ts";

/** How often the page looks again by itself, in milliseconds. */
const lookAgainMs = 15_000;

/** Asks how the instance stands. */
export const healthQuery = { ...ask("GET /health", {}), refetchInterval: lookAgainMs };

/** Asks what was done about backups. */
export const backupsQuery = { ...ask("GET /instance/backups", {}), refetchInterval: lookAgainMs };

/** Asks for the installation's rules for keys and addresses. */
export const instanceSecurityQuery = alone(ask("GET /instance/security", {}));

const perPage = 50;

/** What the address of the log says: filters and page. */
export const instanceLogSearch = reads({ actor: text, action: text, page: positive });
export type InstanceLogSearch = ReturnType<typeof instanceLogSearch>;

/** Asks for a page of what was recorded of the installation, the latest first. */
export const instanceLogQuery = ({ actor, action, page = 1 }: InstanceLogSearch) =>
  ask("GET /instance/audit-log", { query: { actor, action, page, per_page: perPage } });
