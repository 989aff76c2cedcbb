import { type Role, roles } from "../domain/roles.ts";
import { Field } from "../ui/Field.tsx";

/** What each role may do, besides what those before it may. */
const roleHints: Readonly<Record<Role, string>> = {
  reader: "Reads everything, changes nothing.",
  snapshotter: "Reports what runs, and manages service accounts of its own.",
  member: "Reports builds and evidence, and writes rules.",
  admin: "Manages members, settings and spaces, and reads the audit log.",
};

interface RoleFieldProps {
  label?: string;
  value: Role;
  onChoose: (role: Role) => void;
  wrong?: string | undefined;
}

/** Chooses a role, and says what it may do. */
export function RoleField({ label = "Role", value, onChoose, wrong }: RoleFieldProps) {
  return (
    <Field label={label} hint={roleHints[value]} wrong={wrong}>
      {(tie) => (
        <select
          {...tie}
          value={value}
          onChange={(event) => onChoose(roles.find((role) => role === event.target.value) ?? value)}
        >
          {roles.map((role) => (
            <option key={role} value={role}>
              {role}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
