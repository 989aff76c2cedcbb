import { fork } from "node:child_process";
import { once } from "node:events";

import { bundled } from "./program.ts";
import type { S3Answer, S3Control, S3Credentials, S3Question } from "./s3-program.ts";

type Asked<F> = F extends (...given: infer G) => infer R ? (...given: G) => Promise<R> : never;

/** A server that speaks the S3 protocol, in a process of its own, with one bucket. */
export type S3Server = { [K in keyof S3Control]: Asked<S3Control[K]> } & {
  endpoint: string;
  bucket: string;
  stop(): Promise<void>;
};

/** Starts the server on loopback. Requests must be signed with these credentials. */
export async function startS3Server(credentials: S3Credentials): Promise<S3Server> {
  const bucket = "evidence";
  const program = bundled({ file: "test/support/s3-program.ts" });
  const child = fork(program, [JSON.stringify(credentials), bucket], {
    execArgv: [],
    serialization: "advanced",
  });
  const ended = once(child, "exit");
  const [port] = await Promise.race([
    once(child, "message"),
    ended.then(() => Promise.reject(new Error("The server ended before it listened"))),
  ]);

  let asked = 0;
  const waiting = new Map<number, (result: unknown) => void>();
  child.on("message", ({ id, result }: S3Answer) => {
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  function asking<N extends keyof S3Control>(name: N): Asked<S3Control[N]> {
    const ask = (...given: unknown[]): Promise<unknown> =>
      new Promise((resolve, reject) => {
        asked += 1;
        waiting.set(asked, resolve);
        child.send({ id: asked, name, given } satisfies S3Question, (error) => error && reject(error));
      });
    return ask as Asked<S3Control[N]>;
  }

  return {
    endpoint: `http://127.0.0.1:${String(port)}`,
    bucket,
    keys: asking("keys"),
    read: asking("read"),
    write: asking("write"),
    age: asking("age"),
    clear: asking("clear"),
    requests: asking("requests"),
    failNext: asking("failNext"),
    cutNext: asking("cutNext"),
    loseNext: asking("loseNext"),
    failPartsAfter: asking("failPartsAfter"),
    uploads: asking("uploads"),
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}
