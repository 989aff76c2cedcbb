import { queryOptions } from "@tanstack/react-query";

import { call } from "../../api/client.ts";
import { type GivenType, givenType, type TypeDraft } from "../../domain/type-draft.ts";

/** Asks what a definition would make of data. Nothing is stored. */
export function trialQuery(org: string, definition: GivenType, payload: unknown) {
  return queryOptions({
    queryKey: ["POST /custom-attestation-types/{org}/try", org, definition, payload],
    queryFn: ({ signal }) =>
      call(
        "POST /custom-attestation-types/{org}/try",
        { params: { org }, body: { ...definition, payload } },
        signal,
      ),
    // The same definition makes the same of the same data.
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });
}

/** Writes what makes a type, or its next version. */
export function formOfType(name: string, draft: TypeDraft): FormData {
  const { schema, rules, summary } = givenType(draft);
  const evaluator = rules === null ? { content_type: "default" } : { content_type: "jq", rules };
  const form = new FormData();
  const description = draft.description === "" ? null : draft.description;
  form.append("data_json", JSON.stringify({ name, description, evaluator, summary }));
  if (schema !== null)
    form.append("type_schema", new File([draft.schema], "schema.json", { type: "application/json" }));
  return form;
}
