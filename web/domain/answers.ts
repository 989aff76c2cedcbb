import { type Asking, requestPath } from "./requests.ts";

/** Names a file after what was asked: path without query, in signs that every system takes. */
export function fileNameOf(asking: Asking): string {
  const [path = ""] = requestPath({
    operation: asking.operation,
    input: { params: asking.input.params },
  }).split("?");
  const name = path
    .slice(1)
    .replaceAll(/%[\dA-F]{2}|[^\w.~]+/gi, "-")
    .slice(0, 120)
    .replaceAll(/^[-.]+|[-.]+$/g, "");
  return `${name === "" ? "answer" : name}.json`;
}
