import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** What becomes of connections: they go through, are cut and refused, are answered 502, or streams among them say no more. */
type Mode = "through" | "cut" | "away" | "frozen";

/** A proxy of TCP connections in front of a site, which can fail as networks do. */
export interface CuttingProxy {
  url: string;
  turn(mode: Mode): void;
  end(): Promise<void>;
}

const badGateway = "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

interface Passing {
  client: Socket;
  server: Socket;
  /** Whether what changes is told on it. */
  isStream: boolean;
}

function pass(client: Socket, to: { host: string; port: number }): Passing {
  const server = connect(to);
  const passing: Passing = { client, server, isStream: false };
  client.on("data", (data) => {
    passing.isStream ||= data.includes("/api/v2/changes/");
    server.write(data);
  });
  server.on("data", (data) => client.write(data));
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
  }
  return passing;
}

/** Starts a proxy in front of a site; everything goes through at first. */
export async function startCuttingProxy(url: string): Promise<CuttingProxy> {
  const { hostname: host, port } = new URL(url);
  const all = new Set<Passing>();
  let mode: Mode = "through";
  const listener = createServer((client) => {
    client.on("error", () => client.destroy());
    if (mode === "cut") client.destroy();
    else if (mode === "away") client.once("data", () => client.end(badGateway));
    else {
      const passing = pass(client, { host, port: Number(port) });
      all.add(passing);
      client.on("close", () => all.delete(passing));
    }
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const turn = (to: Mode): void => {
    mode = to;
    for (const { client, server, isStream } of all)
      if (to === "cut" || to === "away") client.destroy();
      else if (to === "frozen" && isStream) server.pause();
  };
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    turn,
    end: async () => {
      turn("cut");
      listener.close();
      await once(listener, "close");
    },
  };
}
