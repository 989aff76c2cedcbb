import type { AnswerOf } from "../../api/contract.ts";
import { alone, ask, polling } from "../../api/queries.ts";
import { flag, oneOf, positive, reads, text } from "../../domain/search-params.ts";

export type Action = AnswerOf<"GET /actions/{org}">[number];
export type Delivery = AnswerOf<"GET /actions/{org}/{action_number}/deliveries">["deliveries"][number];

/** What the address of the list says. */
export const actionsSearch = reads({ failing: flag });

/** What the address of an action says: whether it is being changed; filter, page and the opened one of its deliveries. */
export const actionSearch = reads({
  edit: flag,
  status: oneOf("waiting", "delivered", "failed", "cancelled"),
  page: positive,
  open: text,
});
export type ActionSearch = ReturnType<typeof actionSearch>;

/** What the address of a new action says. */
export const newActionSearch = reads({ type: oneOf("flow") });

/** Asks for all actions; the list has no pages. */
export const actionsQuery = (org: string) => ({
  ...alone(ask("GET /actions/{org}", { params: { org } })),
  refetchInterval: polling.lists,
});

/** Asks for an action. */
export const actionQuery = (org: string, action_number: string) => ({
  ...alone(ask("GET /actions/{org}/{action_number}", { params: { org, action_number } })),
  refetchInterval: polling.lists,
});

/** Asks for a page of what an action sent, and is going to send. */
export function deliveriesQuery(org: string, action_number: string, { status, page = 1 }: ActionSearch) {
  const query = { status: status === undefined ? undefined : [status], page, per_page: 20 };
  return {
    ...ask("GET /actions/{org}/{action_number}/deliveries", { params: { org, action_number }, query }),
    refetchInterval: polling.lists,
  };
}

/** Asks for what a delivery carries. */
export function deliveryQuery(org: string, action_number: number, delivery_id: string) {
  const params = { org, action_number, delivery_id };
  return alone(ask("GET /actions/{org}/{action_number}/deliveries/{delivery_id}", { params }));
}

/** Asks for names that begin a choice of flows. */
export const flowNamesQuery = (org: string, search_by_name: string) =>
  ask("GET /flows/{org}", {
    params: { org },
    query: { search_by_name, case_sensitive: false, per_page: 20, page: 1 },
  });
