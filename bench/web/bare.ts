import { once } from "node:events";

import { type Server, startNode, stopProcess } from "../processes.ts";

/** The site that the web app is compared with. */
export interface BareSite {
  url: string;
  /** Lets it answer these paths of the API as the server does now. @returns the address of a page that shows them. */
  show(paths: readonly string[]): Promise<string>;
}

async function answersOf({ url, key }: Server, paths: readonly string[]): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const path of paths) {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
    // What is not there is an answer, too.
    answers[path] = await response.json();
  }
  return answers;
}

/** Runs the bare site while `work` measures. */
export async function withBareSite<T>(server: Server, work: (site: BareSite) => Promise<T>): Promise<T> {
  const script = new URL("bare-site.ts", import.meta.url).pathname;
  const child = startNode({ args: ["--import", "tsx", script] });
  const answer = async (answers: Record<string, unknown>): Promise<string> => {
    child.send({ answers });
    const [{ port }] = (await once(child, "message")) as [{ port: number }];
    return `http://127.0.0.1:${port}/`;
  };
  try {
    return await work({
      url: await answer({}),
      show: async (paths) =>
        `${await answer(await answersOf(server, paths))}#${encodeURIComponent(JSON.stringify(paths))}`,
    });
  } finally {
    await stopProcess(child);
  }
}
