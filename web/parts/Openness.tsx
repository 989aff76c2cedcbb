import { Check } from "../ui/Field.tsx";
import { Note } from "../ui/Note.tsx";

interface OpennessProps {
  given: boolean;
  /** Whether it is now. */
  stored: boolean;
  onChange: (isPublic: boolean) => void;
}

/** Asks whether an organization is open to everybody, and says what that means before it is. */
export function Openness({ given, stored, onChange }: OpennessProps) {
  return (
    <>
      <Check checked={given} onChange={(event) => onChange(event.target.checked)}>
        Public: everybody may read, without an account
      </Check>
      {given && !stored ? (
        <Note kind="warn">
          Once saved, whoever reaches this server reads builds, evidence and what runs where. Members, keys
          and the audit log stay closed.
        </Note>
      ) : null}
    </>
  );
}
