/** What is put into an operation's path and behind it. */
export interface RequestInput {
  params?: Readonly<Record<string, unknown>> | undefined;
  query?: Readonly<Record<string, unknown>> | undefined;
  body?: unknown;
}

/** An operation with what it is asked, or told: `GET /environments/{org}`. */
export interface Asking {
  operation: string;
  input: RequestInput;
}

/** Names the method of an operation. */
export function methodOf(operation: string): string {
  return operation.slice(0, operation.indexOf(" "));
}

/** Lists the values of a query, those of lists one after the other; what says nothing is left out. */
export function queryPairs(query: RequestInput["query"]): [string, string][] {
  return Object.entries(query ?? {}).flatMap(([name, value]) => {
    const all: unknown[] = Array.isArray(value) ? value : [value];
    return all
      .filter((one) => one !== undefined && one !== null && one !== "")
      .map((one): [string, string] => [name, String(one)]);
  });
}

function filledPath(operation: string, params: RequestInput["params"]): string {
  return operation.slice(operation.indexOf(" ") + 1).replaceAll(/\{([^}]+)\}/g, (_whole, name: string) => {
    const isRest = name.endsWith("...");
    const value = String(params?.[isRest ? name.slice(0, -3) : name]);
    return isRest ? value.split("/").map(encodeURIComponent).join("/") : encodeURIComponent(value);
  });
}

/** Writes path and query of a request, below `/api/v2`. */
export function requestPath({ operation, input: { params, query } }: Asking): string {
  const text = new URLSearchParams(queryPairs(query)).toString();
  return `${filledPath(operation, params)}${text === "" ? "" : `?${text}`}`;
}

/** What a form is made of: fields of text, and files with their content. */
export interface FormPart {
  name: string;
  text: string;
  /** Undefined for a field. */
  file?: string | undefined;
}

/** Reads what a form is made of. */
export function formParts(form: FormData): Promise<FormPart[]> {
  return Promise.all(
    [...form.entries()].map(async ([name, value]) =>
      typeof value === "string"
        ? { name, text: value }
        : { name, text: await value.text(), file: value.name },
    ),
  );
}
