import type { runningEndpoints } from "../../../contract/running.ts";
import type { CsvHandlers, Handlers } from "../../kernel/call.ts";
import { readAllRunning, readAllShown, readRunning, readShown, type ShownQuestion } from "./service.ts";

interface ShownCall {
  params: { env_name: string; snapshot_expression: string };
  query: ShownQuestion["input"];
}

function questionOf({ params, query }: ShownCall): ShownQuestion {
  return { environment: params.env_name, expression: params.snapshot_expression, input: query };
}

export const runningHandlers: Handlers<typeof runningEndpoints> = {
  list_running: async (deps, { org, query }) => ({ status: 200, body: await readRunning(deps, org, query) }),
  list_snapshot_artifacts: async (deps, call) => ({
    status: 200,
    body: await readShown(deps, call.org, questionOf(call)),
  }),
};

export const runningCsv: CsvHandlers<typeof runningEndpoints> = {
  list_running: (deps, { org, query }) => readAllRunning(deps, org, query),
  list_snapshot_artifacts: (deps, call) => readAllShown(deps, call.org, questionOf(call)),
};
