/**
 * The organization id under which entries of the audit log stand that belong to no organization. No id source ever gives
 * it: its time is the beginning of 1970. No row of `organizations` has it.
 */
export const instanceLogId = "00000000-0000-7000-8000-000000000000";

/** What is recorded in the log of the instance. */
export const instanceActions = [
  /** Somebody began a session. */
  "sign_in",
  /** Somebody could not; recorded once a minute for a name and an address. */
  "sign_in_failed",
  "sign_out",
  /** A session was ended by somebody else than its owner's browser. */
  "session_revoked",
  /** Groups of a provider gave or took a role. */
  "role_mapped",
  "key_expired",
  /** A key was used from an address that it must not be used from; recorded once a minute for a key and an address. */
  "address_refused",
  /** A link that signs in was made on the machine. */
  "break_glass",
  /** Records were taken out of the installation. */
  "export",
  "backup",
  "restore",
  /** A backup was restored beside, to try it. */
  "restore_drill",
  /** Settings changed: `details` has their names, never their values. */
  "settings_changed",
  "quarantine_released",
  /** After a restore: evidence that the original was thought to work with is this installation's alone. */
  "evidence_taken_over",
  /** The installation was restored without its secret key: what was sealed with it is gone. */
  "secrets_forgotten",
] as const;

export type InstanceAction = (typeof instanceActions)[number];
