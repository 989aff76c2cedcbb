import type { TestApp } from "./app.ts";

/** Reads `/metrics`. @returns what finds a figure by its name with its labels; undefined when it is not shown. */
export async function readMetrics(app: TestApp): Promise<(name: string) => number | undefined> {
  const { text } = await app.anonymous.request("GET", "root:/metrics");
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const figures = new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))] as const;
    }),
  );
  return (name) => figures.get(name);
}
