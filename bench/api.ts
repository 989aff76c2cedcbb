import type { Server } from "./processes.ts";

/**
 * Sends a request to the API.
 * @param path with the API's prefix.
 * @param body JSON text, or a form.
 * @returns the status.
 * @throws when the answer is not a success.
 */
export async function send(
  { url, key }: Pick<Server, "url" | "key">,
  method: string,
  path: string,
  body: string | FormData,
): Promise<number> {
  const contentType = typeof body === "string" ? { "content-type": "application/json" } : {};
  const headers = { authorization: `Bearer ${key}`, ...contentType };
  const response = await fetch(url + path, { method, headers, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${text}`);
  return response.status;
}

/** Makes a form of a field of JSON and files of text, whose names are those of their fields. */
export function form(field: string, data: unknown, files: Record<string, string> = {}): FormData {
  const parts = new FormData();
  parts.set(field, JSON.stringify(data));
  for (const [name, text] of Object.entries(files)) parts.set(name, new Blob([text]), name);
  return parts;
}
