/** Seconds for which an invitation works. */
export const invitationSeconds = 7 * 24 * 3600;

/** Most invitations of one organization that are open at a time. */
export const mostInvitations = 100;
