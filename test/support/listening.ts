import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";

import { expect } from "vitest";

/** An event as it arrived. */
interface Told {
  event: string;
  id?: string;
  data: { topic?: string; name?: string | null; index?: number | null };
}

/** Somebody who listens. */
export interface Listening {
  status: number | undefined;
  headers: IncomingMessage["headers"];
  events: Told[];
  ended: Promise<unknown>;
  stop(): void;
  /** Waits for a change. */
  hears(topic: string, name: string | null, index?: number | null): Promise<Told>;
  /** The id of the last event. */
  last(): string;
}

function parseEvent(text: string): Told | undefined {
  const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "m").exec(text)?.[1];
  const [event, id, data] = [field("event"), field("id"), field("data")];
  if (event === undefined) return undefined;
  return { event, data: JSON.parse(data ?? "null") as Told["data"], ...(id === undefined ? {} : { id }) };
}

/** What to ask for beside the organization. */
export interface HowToListen {
  query?: string;
  headers?: Record<string, string>;
}

/** Listens to what changes in an organization; what is answered is there when this resolves. */
export async function listenTo(
  port: number,
  org: { name: string },
  key: string | undefined,
  { query = "", headers = {} }: HowToListen,
): Promise<Listening> {
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const asked = get({
    host: "127.0.0.1",
    port,
    path: `/api/v2/changes/${org.name}${query}`,
    headers: { ...authorization, ...headers },
    agent: false,
  });
  asked.on("error", () => undefined);
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  const events: Told[] = [];
  let rest = "";
  answer.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const event = parseEvent(part);
      if (event !== undefined) events.push(event);
    }
  });
  answer.on("error", () => undefined);
  const listening: Listening = {
    status: answer.statusCode,
    headers: answer.headers,
    events,
    ended: new Promise((resolve) => answer.once("close", resolve)),
    stop: () => asked.destroy(),
    hears: async (topic, name, index = null) => {
      const find = () =>
        events.find(({ data }) => data.topic === topic && data.name === name && data.index === index);
      await expect
        .poll(find, { timeout: 8_000, message: `${topic} ${name}: ${JSON.stringify(events)}` })
        .toBeDefined();
      return find()!;
    },
    last: () => events.findLast(({ id }) => id !== undefined)?.id ?? "",
  };
  if (answer.statusCode === 200)
    await expect.poll(() => events.some(({ event }) => event === "ready"), { timeout: 8_000 }).toBe(true);
  return listening;
}
