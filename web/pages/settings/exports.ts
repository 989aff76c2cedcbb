import type { AnswerOf } from "../../api/contract.ts";
import { type ExportedList, given } from "../../api/export.ts";
import { time } from "../../domain/csv.ts";

/** Exports the members that are shown. */
export function membersExport(org: string, members: AnswerOf<"GET /members/{org}">): ExportedList {
  return {
    file: `${org}-members`,
    columns: ["user", "display_name", "role", "source", time("created_at"), "disabled"],
    batches: given(members),
  };
}

/** Exports the service accounts, without their keys. */
export function accountsExport(org: string, accounts: AnswerOf<"GET /service-accounts/{org}">): ExportedList {
  return {
    file: `${org}-service-accounts`,
    columns: ["name", "display_name", "description", "privilege", time("created_at"), "for_webhook"],
    batches: given(accounts),
  };
}
