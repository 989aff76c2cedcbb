import type { AnswerOf } from "../../api/contract.ts";
import { alone, ask } from "../../api/queries.ts";
import { oneOf, positive, reads, text } from "../../domain/search-params.ts";

export type AttestationType = AnswerOf<"GET /custom-attestation-types/{org}">[number];
export type NamedType = AnswerOf<"GET /custom-attestation-types/{org}/{custom_attestation_type_name}">;
export type TypeVersion = AttestationType["versions"][number];
export type Trial = AnswerOf<"POST /custom-attestation-types/{org}/try">;

/** What the address of the list says. */
export const typesSearch = reads({ q: text });

/** What the address of a type says: the part and the version shown, and the versions compared. */
export const typeSearch = reads({
  tab: oneOf("versions"),
  version: positive,
  from: positive,
  to: positive,
});

/** Asks for one type with all its versions. */
export function typeQuery(org: string, custom_attestation_type_name: string) {
  return alone(
    ask("GET /custom-attestation-types/{org}/{custom_attestation_type_name}", {
      params: { org, custom_attestation_type_name },
    }),
  );
}
