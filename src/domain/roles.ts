/** Roles of users and service accounts, weakest first. Each may do everything the one before it may. */
export const roles = ["reader", "snapshotter", "member", "admin"] as const;

export type Role = (typeof roles)[number];

/** Says whether a role suffices for what needs another. */
export function roleAllows(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

/** Gives the weaker one of a role and the most that something may have, which is null where that is no less. */
export function weakerRole(role: Role, most: Role | null): Role {
  return most === null || roleAllows(most, role) ? role : most;
}
