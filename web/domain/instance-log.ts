import { plainWords } from "./words.ts";

const words: Readonly<Record<string, string>> = {
  sign_in: "Signed in",
  sign_in_failed: "Could not sign in",
  sign_out: "Signed out",
  session_revoked: "Ended a session",
  role_mapped: "Was given a role by the provider",
  key_expired: "A key ended",
  address_refused: "Came from a wrong address",
  break_glass: "Made an emergency link",
  export: "Exported",
  backup: "Made a backup",
  restore: "Restored a backup",
  restore_drill: "Tried a backup",
  settings_changed: "Changed settings",
  quarantine_released: "Released from quarantine",
  evidence_taken_over: "Took the evidence over",
  secrets_forgotten: "Restored without the secret key",
};

/** Says what an action in the log of the installation is. One that is not known is called as the server calls it. */
export function instanceActionWords(action: string): string {
  return words[action] ?? plainWords(action);
}

/** Says what else is known of an entry: its members by name, lists with commas between. */
export function detailsInWords(details: Readonly<Record<string, unknown>> | null): string {
  return Object.entries(details ?? {})
    .map(([name, value]) => {
      const text = Array.isArray(value) ? value.join(", ") : value;
      return `${name.replaceAll("_", " ")}: ${typeof text === "string" ? text : JSON.stringify(text)}`;
    })
    .join("; ");
}
