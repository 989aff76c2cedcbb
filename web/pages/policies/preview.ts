import { queryOptions, useQuery } from "@tanstack/react-query";

import { call } from "../../api/client.ts";
import type { AnswerOf } from "../../api/contract.ts";
import { ApiError } from "../../api/errors.ts";
import { problemsInText, type TextProblem } from "../../domain/policy-errors.ts";
import { type Check, checkPauseMs } from "../../parts/Writing.tsx";
import { useSettled } from "../../ui/useSettled.ts";

type Preview = AnswerOf<"POST /policies/{org}/preview">;
export type PreviewedEnvironment = Preview["environments"][number];

/** What a text is tried on. */
export interface Trial {
  text: string;
  /** Names; none for all. */
  environments: readonly string[] | null;
  /** Unix seconds; null for what runs now. */
  start_ts: number | null;
}

/** Asks what a policy would have said. Nothing is stored. */
export function previewQuery(org: string, trial: Trial) {
  const { text, environments, start_ts } = trial;
  return queryOptions({
    queryKey: ["POST /policies/{org}/preview", org, trial],
    queryFn: ({ signal }) => {
      const body = new FormData();
      body.append("data_json", JSON.stringify({ environments, start_ts }));
      body.append("policy_file", new File([text], "policy.yaml", { type: "application/yaml" }));
      return call("POST /policies/{org}/preview", { params: { org }, body }, signal);
    },
    // The same text says the same of the same past, until it is asked again.
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });
}

const none: readonly TextProblem[] = [];

/** Checks a text a moment after it was last changed. Until then the mistakes that were found stay. */
export function useCheck(org: string, text: string): Check {
  const settled = useSettled(text, checkPauseMs);
  const { data, error } = useQuery(previewQuery(org, { text: settled, environments: [], start_ts: null }));
  if (error instanceof ApiError && error.status === 400) {
    const found = problemsInText(error.errors, "policy_file", settled);
    const problems = found.length > 0 ? found : [{ line: 1, column: 1, message: error.message, part: "" }];
    return { state: text === settled ? "wrong" : "checking", problems, error: undefined };
  }
  if (error !== null) return { state: "failed", problems: none, error };
  const isChecked = text === settled && data !== undefined;
  return { state: isChecked ? "right" : "checking", problems: none, error: undefined };
}
