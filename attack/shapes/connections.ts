import { once } from "node:events";
import { createServer, type Socket } from "node:net";

import { attackerAddress, countStatuses, json } from "../client.ts";
import { each, numbers, reportOf, type Scene, type Shape } from "../scene.ts";

/** Notes how many connections the server has closed. */
function noteCut(scene: Scene, opened: number): void {
  scene.note(`${opened} connections, ${opened - scene.held} of them closed by the server`);
}

/** Makes a shape of many bodies that stop ten bytes before their end. */
function stalling(
  { name, what, peakLimit, long = false }: Omit<Shape, "prepare">,
  { method, path, megabytes, most }: { method: string; path: string; megabytes: number; most: number },
): Shape {
  const shape: Shape = {
    name,
    what,
    long,
    prepare: async (scene) => async () => {
      const length = megabytes * 1024 * 1024;
      const body = Buffer.alloc(length - 10, " ");
      const headers = { "content-type": "application/json", "content-length": length };
      const sockets = await scene.openMany(Math.min(most, scene.scale.stalled));
      for (const socket of sockets) {
        countStatuses(scene.client.tally, socket, name);
        socket.write(scene.client.head(method, path.replace("ORG", scene.org), headers));
        socket.write(body);
      }
      await scene.pause();
      noteCut(scene, sockets.length);
    },
  };
  return peakLimit === undefined ? shape : { ...shape, peakLimit };
}

const stalled = stalling(
  {
    name: "stalled-webhooks",
    what: "bodies of 1 MB to an unknown webhook that stop before their end, 800 at once",
    peakLimit: 150,
  },
  { method: "POST", path: "/webhooks/quality/0123456789abcdef0123456789abcdef", megabytes: 1, most: 800 },
);

const stalledReports = stalling(
  {
    name: "stalled-reports",
    what: "reports of 10 MB with a key that stop before their end, a hundred at once",
    peakLimit: 400,
    long: true,
  },
  { method: "PUT", path: "/environments/ORG/any/report/server", megabytes: 10, most: 100 },
);

const slowHeads: Shape = {
  name: "slow-heads",
  what: "heads of requests sent letter by letter, 500 connections",
  peakLimit: 100,
  prepare: async (scene) => async () => {
    const sockets = await scene.openMany(scene.scale.idle / 2);
    for (const socket of sockets) {
      countStatuses(scene.client.tally, socket, "slow head");
      socket.write("GET /live HTTP/1.1\r\nHost: x\r\n");
    }
    for (let waited = 0; waited < scene.scale.holdMs; waited += 500) {
      for (const socket of sockets) if (socket.writable) socket.write("X");
      await scene.pause(500);
    }
    noteCut(scene, sockets.length);
  },
};

const idle: Shape = {
  name: "idle-connections",
  long: true,
  what: "a thousand connections from one address that send nothing",
  peakLimit: 100,
  prepare: async (scene) => async () => {
    const sockets = await scene.openMany(scene.scale.idle);
    await scene.pause();
    noteCut(scene, sockets.length);
  },
};

const idleMany: Shape = {
  name: "idle-addresses",
  long: true,
  what: "a thousand connections from fifty addresses that send nothing",
  peakLimit: 100,
  prepare: async (scene) => async () => {
    const from = (index: number): string | undefined => attackerAddress(scene.target.url, 100 + (index % 50));
    const sockets = await scene.openMany(scene.scale.idle, from);
    await scene.pause();
    noteCut(scene, sockets.length);
  },
};

/** Sends requests on many connections and never reads the answers. */
async function askDeafly(scene: Scene, count: number, path: string): Promise<void> {
  const sockets = await scene.openMany(count);
  for (const socket of sockets) {
    socket.pause();
    socket.write(scene.client.head("GET", path));
  }
  await scene.pause();
  noteCut(scene, sockets.length);
}

const deaf: Shape = {
  name: "deaf-readers",
  what: "120 readers of the large snapshot that never read",
  peakLimit: 250,
  prepare: async (scene) => {
    const path = `/snapshots/${scene.org}/${await scene.largeEnvironment()}/-1`;
    return () => askDeafly(scene, scene.scale.deaf, path);
  },
};

const deafFiles: Shape = {
  name: "deaf-downloads",
  long: true,
  what: "120 readers of a file of 10 MB that never read",
  peakLimit: 250,
  prepare: async (scene) => {
    const path = await scene.largeFile();
    return () => askDeafly(scene, scene.scale.deaf, path);
  },
};

const downloads: Shape = {
  name: "downloads",
  what: "a thousand readers of one file of 10 MB at once",
  peakLimit: 400,
  prepare: async (scene) => {
    const path = await scene.largeFile();
    return async () => {
      const { downloads: count, fileBytes } = scene.scale;
      await each(numbers(count), count, async () => {
        const answer = await scene.client.poke("GET", path);
        if (answer?.status === 200 && answer.bytes !== fileBytes) scene.wrong("a file was cut short");
      });
    };
  },
};

/** Writes a flood of requests at once on each of twenty connections. @returns how many were opened. */
async function flood(scene: Scene, begin: (socket: Socket) => void): Promise<number> {
  const sockets = await scene.openMany(20);
  const request = scene.client.head("GET", `/environments/${scene.org}?per_page=50`);
  const all = request.repeat(scene.scale.pipelined);
  for (const socket of sockets) {
    begin(socket);
    socket.write(all);
  }
  await scene.pause();
  return sockets.length;
}

const pipelined: Shape = {
  name: "pipelined",
  long: true,
  what: "2,000 requests on each of 20 connections, written at once, answers never read",
  peakLimit: 400,
  prepare: async (scene) => async () => noteCut(scene, await flood(scene, (socket) => socket.pause())),
};

const pipelinedRead: Shape = {
  name: "pipelined-read",
  what: "the same, answers read",
  peakLimit: 400,
  prepare: async (scene) => async () => {
    await flood(scene, (socket) => countStatuses(scene.client.tally, socket, "pipelined"));
  },
};

const wrongKeys: Shape = {
  name: "wrong-keys",
  what: "requests with keys that nobody has, 200 connections",
  peakLimit: 150,
  prepare: async (scene) => async () => {
    const sockets = await scene.openMany(Math.min(200, scene.scale.idle));
    const flood = numbers(100)
      .map((index) =>
        scene.client.head("GET", "/organizations", { authorization: `Bearer ${"k".repeat(40)}${index}` }),
      )
      .join("");
    for (const socket of sockets) {
      countStatuses(scene.client.tally, socket, "wrong key");
      socket.write(flood);
    }
    await scene.pause();
  },
};

/** Starts a server that accepts and counts connections and never answers. */
async function startSilent(scene: Scene): Promise<{ port: number; taken(): number; stop(): void }> {
  let taken = 0;
  const server = createServer((socket) => {
    taken += 1;
    scene.hold(socket);
    socket.on("error", () => {});
    socket.resume();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  return { port, taken: () => taken, stop: () => server.close() };
}

const notifications: Shape = {
  name: "notifications",
  long: true,
  what: "notifications of 300 events to ten targets that never answer",
  peakLimit: 150,
  prepare: async (scene) => {
    const silent = await startSilent(scene);
    await scene.createEnvironment("told");
    const target = { type: "WEBHOOK", webhook: `http://127.0.0.1:${silent.port}/hook` };
    await each(numbers(10), 1, (index) =>
      scene.client.poke("PUT", `/actions/${scene.org}/environments`, {
        body: json({
          name: `told-${index}`,
          type: "env",
          environments: ["told"],
          triggers: ["ON_STARTED_ARTIFACT", "ON_EXITED_ARTIFACT"],
          targets: [target],
        }),
      }),
    );
    return async () => {
      await each(numbers(scene.scale.events), 4, (index) =>
        scene.report("told", reportOf(1, `told ${index}`)).catch(() => undefined),
      );
      await scene.pause();
      scene.note(`${silent.taken()} attempts`);
      silent.stop();
    };
  },
};

/** Shapes of connections. */
export const connectionShapes: Shape[] = [
  stalled,
  stalledReports,
  slowHeads,
  idle,
  idleMany,
  deaf,
  deafFiles,
  downloads,
  pipelined,
  pipelinedRead,
  wrongKeys,
  notifications,
];
