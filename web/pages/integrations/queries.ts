import type { AnswerOf } from "../../api/contract.ts";
import { alone, ask, polling } from "../../api/queries.ts";
import { oneOf, positive, reads, text } from "../../domain/search-params.ts";

export type Integration = AnswerOf<"GET /integrations/{org}">[number];
export type Delivery = AnswerOf<"GET /integrations/{org}/quality/deliveries">["deliveries"][number];

/** What the address says: filters, page and the opened one of the deliveries. */
export const integrationsSearch = reads({
  status: oneOf("accepted", "processed", "duplicate", "ignored", "refused"),
  project: text,
  page: positive,
  open: text,
});

/** Asks for what reports to us by itself, on or off. */
export const integrationsQuery = (org: string) => alone(ask("GET /integrations/{org}", { params: { org } }));

/** Asks for a page of what the quality webhook received. */
export function deliveriesQuery(
  org: string,
  { status, project, page = 1 }: ReturnType<typeof integrationsSearch>,
) {
  const query = {
    status: status === undefined ? undefined : [status],
    project_key: project,
    page,
    per_page: 20,
  };
  return {
    ...ask("GET /integrations/{org}/quality/deliveries", { params: { org }, query }),
    refetchInterval: polling.lists,
  };
}

/** Asks for what a delivery carried. */
export const deliveryQuery = (org: string, delivery_id: string) =>
  alone(ask("GET /integrations/{org}/quality/deliveries/{delivery_id}", { params: { org, delivery_id } }));
