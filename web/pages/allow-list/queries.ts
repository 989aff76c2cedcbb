import type { AnswerOf } from "../../api/contract.ts";
import { reads, text } from "../../domain/search-params.ts";

export type Allowed = AnswerOf<"GET /allowlists/{org}">[number];

/** What the address of the allow-list says. */
export const allowListSearch = reads({ q: text, environment: text });
