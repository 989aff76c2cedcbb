/** Something to try: a command for a POSIX shell, and what it shows. */
export interface NextStep {
  title: string;
  command: string;
}

/** Quotes a text as one word of a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** What a request has beside its path. */
interface CurlOptions {
  query?: Record<string, string>;
  method?: string;
  /** Parts of a form, as `-F` takes them. */
  form?: readonly string[];
}

/** A function that writes the `curl` command of a request below `/api/v2`. */
export type Curl = (path: string, options?: CurlOptions) => string;

/** Makes such a function for a server and a key. @param url base address of the server. */
export function createCurl(url: string, key: string): Curl {
  return (path, { query = {}, method, form = [] } = {}) => {
    // Colons, slashes and tildes may stand in a query as they are, and read better so.
    const search = new URLSearchParams(query)
      .toString()
      .replaceAll("%3A", ":")
      .replaceAll("%2F", "/")
      .replaceAll("%7E", "~");
    const address = `${url}/api/v2${path}${search === "" ? "" : `?${search}`}`;
    const verb = method === undefined ? "" : ` -X ${method}`;
    const parts = form.map((part) => ` -F ${quoted(part)}`).join("");
    return `curl -sS${verb} -H ${quoted(`Authorization: Bearer ${key}`)}${parts} ${quoted(address)}`;
  };
}
