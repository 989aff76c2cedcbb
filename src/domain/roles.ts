/** Roles of users and service accounts, weakest first. Each may do everything the one before it may. */
export const roles = ["reader", "snapshotter", "member", "admin"] as const;

export type Role = (typeof roles)[number];

/** Says whether a role suffices for what needs another. */
export function roleAllows(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}
