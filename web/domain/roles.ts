/** Roles of an organization, each of which may do all that those before it may. */
export const roles = ["reader", "snapshotter", "member", "admin"] as const;
export type Role = (typeof roles)[number];

/** What an operation asks of its caller: a role, or `anybody`, who may read, or any account. */
export type Need = Role | "anybody" | "user" | "public" | "site" | "instance_admin" | "signature";

/** What is said of an action until it is known who asks: neither that they may nor why not. */
export const roleUnknown = "One moment";

/**
 * Says why a caller may not do something. @param role theirs in the organization; undefined when they are no member, null until it
 * is known.
 */
export function refusal(need: Need, role: Role | null | undefined): string | undefined {
  if (need === "anybody" || need === "public" || need === "user" || need === "site") return undefined;
  if (role === null) return roleUnknown;
  if (need === "instance_admin" || need === "signature") return "Only for administrators of the installation";
  if (role === undefined) return "Sign in as a member of this organization";
  if (roles.indexOf(role) >= roles.indexOf(need)) return undefined;
  return `You are ${role} here; this needs ${need}`;
}

/** Says of somebody who is a member already as what; undefined for others. */
export function alreadyMember(
  members: readonly { user: string; role: Role }[],
  user: string,
): string | undefined {
  const member = members.find((one) => one.user === user);
  return member && `${user} is a member already, as ${member.role}`;
}
