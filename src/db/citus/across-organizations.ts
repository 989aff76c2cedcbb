/**
 * The statements on tables of organizations that are about several of them, by name, and why. On Citus each goes to every
 * shard, and so costs more the larger the cluster: none of them belongs to a request about one organization. Every other
 * statement names its organization, which tests hold it to. What the commands `repair-times` and `partition` run is not among
 * them: on Citus they are refused.
 */
export const acrossOrganizations: ReadonlyMap<string, string> = new Map([
  [
    "audit-lengths",
    "what sends all logs elsewhere, and what erases addresses once a day, begins with which have something",
  ],
  ["audit-heads", "a server asks for all organizations that somebody listens to, in one statement"],
  ["doctor-gaps-audit_log", "a command that looks at the whole installation"],
  ["doctor-gaps-builds", "a command that looks at the whole installation"],
  ["doctor-largest-audit_log", "a command that looks at the whole installation"],
  ["doctor-largest-builds", "a command that looks at the whole installation"],
  ["evidence-contents", "looks through stored files, which organizations share by content"],
  ["evidence-referred", "a file goes when no organization has its content any more"],
  ["expiring-keys", "every few minutes, for who watches the instance"],
  ["open-silences", "whenever the metrics are read, of all that are watched"],
  ["silent-organizations", "once a minute; what is then noted goes organization by organization"],
]);
