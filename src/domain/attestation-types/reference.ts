import { customAttestationTypeNamePattern, maxNameLength } from "../names.ts";

/** A reference to a custom attestation type, or to one version of it. */
export interface TypeReference {
  name: string;
  /** Undefined: the latest. */
  version: number | undefined;
}

/** Version numbers are 32-bit integers in the database. */
const maxVersion = 2_147_483_647;

/** Reads `coverage` and `coverage@v2`. Undefined for a text that can be no type's name. */
export function parseTypeReference(text: string): TypeReference | undefined {
  const parts = /^(?<name>[^@]*)(?:@v(?<version>[1-9]\d{0,9}))?$/.exec(text)?.groups;
  const name = parts?.["name"];
  if (name === undefined || name.length > maxNameLength || !customAttestationTypeNamePattern.test(name))
    return undefined;
  const version = parts?.["version"];
  if (version === undefined) return { name, version };
  return Number(version) > maxVersion ? undefined : { name, version: Number(version) };
}
