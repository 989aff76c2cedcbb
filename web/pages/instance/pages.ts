/** The pages about the installation, in the order of their tabs. A new one is a line here and a route of the same path. */
export const instancePages = [
  { to: "/-/instance/health", words: "Health" },
  { to: "/-/instance/backups", words: "Backups" },
  { to: "/-/instance/security", words: "Security" },
  { to: "/-/instance/log", words: "Log" },
] as const;
