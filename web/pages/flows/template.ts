import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";

import { call } from "../../api/client.ts";
import type { AnswerOf } from "../../api/contract.ts";
import { type Check, checkPauseMs } from "../../parts/Writing.tsx";
import { useSettled } from "../../ui/useSettled.ts";
import type { Flow } from "./queries.ts";

type Checked = AnswerOf<"POST /flows/{org}/template/check">;
/** What a template says, or is wrong with it. */
export type Template = NonNullable<Checked["template"]>;

/** Writes what is sent of a flow. @param template undefined: a new flow asks for nothing. */
export function flowForm(
  { name, description, visibility }: Pick<Flow, "name" | "description" | "visibility">,
  template: string | undefined,
): FormData {
  const form = new FormData();
  form.append("data_json", JSON.stringify({ name, description, visibility }));
  if (template !== undefined)
    form.append("template_file", new Blob([template], { type: "application/yaml" }), "template.yml");
  return form;
}

/** Asks what a text says as a template, or what is wrong with it. Nothing is stored. */
function checkQuery(org: string, template: string) {
  return queryOptions({
    queryKey: ["POST /flows/{org}/template/check", org, template],
    queryFn: ({ signal }) =>
      call("POST /flows/{org}/template/check", { params: { org }, body: { template } }, signal),
    // The same text always says the same.
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });
}

const problemsOf = ({ errors }: Checked): Check["problems"] =>
  errors.map(({ path, line, column, message }) => ({
    line: line ?? 1,
    column: column ?? 1,
    message,
    part: path,
  }));

const none: Check["problems"] = [];

/**
 * Checks a text a moment after it was last changed, and reads it. Until then what was found before stays.
 * @param isAsked whether the caller may have it checked.
 */
export function useTemplate(
  org: string,
  text: string,
  isAsked = true,
): { check: Check; template: Template | undefined; isOld: boolean } {
  const settled = useSettled(text, checkPauseMs);
  const { data, error, isPlaceholderData } = useQuery({
    ...checkQuery(org, settled),
    placeholderData: keepPreviousData,
    enabled: isAsked,
  });
  const isOld = text !== settled || isPlaceholderData;
  if (error !== null)
    return { check: { state: "failed", problems: none, error }, template: undefined, isOld };
  const problems = data === undefined ? none : problemsOf(data);
  const state = data === undefined || isOld ? "checking" : problems.length > 0 ? "wrong" : "right";
  return { check: { state, problems, error: undefined }, template: data?.template ?? undefined, isOld };
}

/** Reads the template that is kept. */
export function useKeptTemplate(org: string, text: string): Template | undefined {
  return useQuery(checkQuery(org, text)).data?.template ?? undefined;
}
