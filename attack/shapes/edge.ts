import { attackerAddress, countStatuses, form } from "../client.ts";
import { each, numbers, type Scene, type Shape } from "../scene.ts";

/** Makes heads that are expensive to read: as large as they may be, and larger. */
function floodOfHeads(scene: Scene): Record<string, string> {
  const head = (more: Record<string, string>): string =>
    scene.client.head("GET", `/environments/${scene.org}?per_page=1`, more);
  const open = "GET /live HTTP/1.1\r\nhost: x\r\n";
  const addresses = numbers(1000).map((index) => `10.${index % 200}.0.${index % 250}`);
  return {
    "very many fields": `${open}${"a:b\r\n".repeat(1900)}\r\n`,
    "one field, very many times": `${open}${"cookie: a=b\r\n".repeat(800)}\r\n`,
    "one long field": head({ "x-long": "x".repeat(15_000) }),
    "a thousand cookies": head({
      cookie: numbers(1000)
        .map((index) => `c${index}=${index}`)
        .join("; "),
    }),
    "a thousand addresses": head({ "x-forwarded-for": addresses.join(",") }),
    "a thousand encodings": head({ "accept-encoding": "gzip;q=0.1,br;q=0.2,".repeat(700) }),
    "fields past the limit": `${open}${"a: b\r\n".repeat(20_000)}\r\n`,
    "a long path past the limit": `GET /${"a/".repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
    "a head without end": `${open}x-long: ${"x".repeat(60_000)}`,
  };
}

const headers: Shape = {
  name: "header-floods",
  what: "heads as large as they may be and larger: 1,900 fields, a thousand cookies and addresses, without end; 100 connections",
  // What Node.js keeps of its first flood; five more of them added 12 % to that.
  peakLimit: 250,
  prepare: async (scene) => {
    const kinds = Object.values(floodOfHeads(scene));
    return async () => {
      const end = performance.now() + scene.scale.holdMs;
      await each(numbers(Math.min(100, scene.scale.idle / 2)), 100, async (index) => {
        for (let turn = index; performance.now() < end; turn += 1) {
          const [socket] = await scene.openMany(1);
          if (socket === undefined) continue;
          countStatuses(scene.client.tally, socket, "header flood");
          const closed = new Promise((resolve) => socket.once("close", resolve));
          socket.write(kinds[turn % kinds.length]!.repeat(4));
          await Promise.race([closed, scene.pause(300)]);
          socket.destroy();
        }
      });
    };
  },
};

const aborted: Shape = {
  name: "aborted-uploads",
  what: "uploads of evidence that are broken off half-way, forty at once, and one that is not",
  peakLimit: 300,
  prepare: async (scene) => {
    const { fileBytes, holdMs, deaf } = scene.scale;
    await scene.flow("aborted", "version: 1\n");
    const bytes = Buffer.alloc(fileBytes, "evidence ");
    const { type, bytes: body } = form(
      { data_json: JSON.stringify({ attestation_name: "cut", is_compliant: true }) },
      { attachment_file: bytes },
    );
    const half = Buffer.from(body).subarray(0, fileBytes / 2);
    const head = scene.client.head("POST", `/attestations/${scene.org}/aborted/trail/cut/generic`, {
      "content-type": type,
      "content-length": body.length,
    });
    return async () => {
      const end = performance.now() + holdMs;
      let cut = 0;
      await each(numbers(Math.min(40, deaf)), 40, async () => {
        while (performance.now() < end) {
          const [socket] = await scene.openMany(1);
          if (socket === undefined) continue;
          countStatuses(scene.client.tally, socket, "aborted upload");
          socket.write(head);
          await new Promise((resolve) => {
            socket.write(half, resolve);
            socket.once("close", resolve);
          });
          cut += 1;
          socket.resetAndDestroy();
        }
      });
      scene.note(`${cut} broken off`);
      const whole = { attestation_name: "whole", is_compliant: true };
      const stored = await scene.attest("aborted", "whole", "generic", whole, { attachment_file: bytes });
      if (stored.status !== 201) scene.wrong(`an upload afterwards was answered ${stored.status}`);
      const trails = await scene.client.need("GET", `/trails/${scene.org}/aborted?per_page=50`);
      if (/"name":\s*"cut"/.test(trails.text)) scene.wrong("an upload that was broken off was taken");
    };
  },
};

/** By then the server has cut off who sends less than 512 bytes a second. */
const patienceMs = 13_000;

const slowBodies: Shape = {
  name: "slow-bodies",
  long: true,
  what: "reports with a key whose bodies come letter by letter, 100 connections",
  peakLimit: 100,
  prepare: async (scene) => async () => {
    const sockets = await scene.openMany(Math.min(100, scene.scale.idle));
    for (const socket of sockets) {
      countStatuses(scene.client.tally, socket, "slow body");
      const path = `/environments/${scene.org}/any/report/server`;
      socket.write(
        scene.client.head("PUT", path, { "content-type": "application/json", "content-length": 100_000 }),
      );
    }
    for (let waited = 0; waited < scene.scale.holdMs; waited += 500) {
      for (const socket of sockets) if (socket.writable) socket.write(" ");
      await scene.pause(500);
    }
    const cut = sockets.length - scene.held;
    scene.note(`${sockets.length} connections, ${cut} of them closed by the server`);
    if (cut < sockets.length && scene.scale.holdMs >= patienceMs)
      scene.wrong(`${sockets.length - cut} bodies were waited for`);
  },
};

const slowReaders: Shape = {
  name: "slow-readers",
  long: true,
  what: "120 readers of the large snapshot that take a thousand bytes a second",
  peakLimit: 250,
  prepare: async (scene) => {
    const path = `/snapshots/${scene.org}/${await scene.largeEnvironment()}/-1`;
    return async () => {
      const sockets = await scene.openMany(scene.scale.deaf);
      for (const socket of sockets) {
        socket.pause();
        socket.write(scene.client.head("GET", path));
      }
      for (let waited = 0; waited < scene.scale.holdMs; waited += 500) {
        for (const socket of sockets) socket.read(500);
        await scene.pause(500);
      }
      scene.note(
        `${sockets.length} connections, ${sockets.length - scene.held} of them closed by the server`,
      );
    };
  },
};

/** The last part of the address of a proxy that the server trusts. */
const proxy = 77;
const guessesPerAddress = 60;

const guesses: Shape = {
  name: "guesses",
  long: true,
  what: `keys that nobody has, 70 from each of 200 addresses behind a trusted proxy, ${guessesPerAddress} a minute being allowed`,
  peakLimit: 150,
  settings: {
    WAYBILL_TRUSTED_PROXIES: `127.0.0.${proxy}`,
    WAYBILL_FAILED_KEYS_PER_ADDRESS: String(guessesPerAddress),
  },
  prepare: async (scene) => async () => {
    const from = (): string | undefined => attackerAddress(scene.target.url, proxy);
    const senders = numbers(200).map((index) => `10.0.0.${index + 1}`);
    const ask = (sender: string, key?: string): string =>
      scene.client.head("GET", "/organizations", {
        "x-forwarded-for": sender,
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      });
    const perSender = guessesPerAddress + 10;
    await each(senders, 50, async (sender) => {
      const [socket] = await scene.openMany(1, from);
      if (socket === undefined) return;
      const seen = countStatuses(scene.client.tally, socket, "guess");
      const answered = (): number => Object.values(seen).reduce((sum, count) => sum + count, 0);
      const ends = performance.now() + 60_000;
      for (let sent = 0; sent < perSender && socket.writable; sent += 10) {
        socket.write(
          numbers(10)
            .map((index) => ask(sender, `${"k".repeat(40)}${sent + index}`))
            .join(""),
        );
        while (answered() < sent + 10 && socket.writable && performance.now() < ends) await scene.pause(10);
      }
      // Ten of one connection are asked at once.
      if ((seen[401] ?? 0) > guessesPerAddress + 10) scene.wrong(`${seen[401]} guesses from one address`);
      if (seen[429] === undefined) scene.wrong(`${sender} was never refused: ${JSON.stringify(seen)}`);
      socket.destroy();
    });
    // Whoever has a key that worked lately is no guesser, wherever it is.
    const [socket] = await scene.openMany(1, from);
    const seen = countStatuses(scene.client.tally, socket!, "good key");
    socket!.write(ask(senders[0]!));
    socket!.write(ask("10.9.9.9", "k".repeat(50)));
    await scene.pause(1000);
    if (seen[200] !== 1 || seen[401] !== 1)
      scene.wrong(`a good key, and a guess from elsewhere, were answered ${JSON.stringify(seen)}`);
  },
};

/** Shapes of what a server has to bear that anybody can reach. */
export const edgeShapes: Shape[] = [headers, aborted, slowBodies, slowReaders, guesses];
