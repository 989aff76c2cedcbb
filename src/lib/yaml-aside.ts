import { setImmediate as nextTurn } from "node:timers/promises";
import type { Worker } from "node:worker_threads";

import { createFairQueue } from "./sandbox/fair-queue.ts";
import { startThread } from "./thread.ts";
import { readYaml, type TextPlace, YamlError, type YamlLimits, type YamlValue } from "./yaml.ts";
import { findPlaces } from "./yaml-places.ts";

/** What a text says, or where paths lead in it. */
export type YamlQuestion =
  | { text: string; limits: YamlLimits }
  | { text: string; paths: readonly (readonly (string | number)[])[] };

export type YamlAnswer =
  | { kind: "value"; value: YamlValue | TextPlace[] }
  | { kind: "error"; message: string; line: number | undefined; column: number | undefined };

/** So much waits to be read that another text is refused, or the machine has no room to read it. */
export class YamlBusy extends Error {}

/** Reads YAML without holding up the event loop. Failures are those of `readYaml`, and YamlBusy. */
export interface YamlReader {
  /** @param owner on whose behalf; owners are served in turn. */
  read(owner: string, text: string, limits: YamlLimits): Promise<YamlValue>;
  /** Finds where paths lead in a text that was read before, as `findPlaces` does. */
  locate(owner: string, text: string, paths: readonly (readonly (string | number)[])[]): Promise<TextPlace[]>;
}

/** UTF-16 units of the longest text that is read in this thread: it takes ten milliseconds at worst, asking another thread takes longer. */
const shortText = 4 * 1024;

/** UTF-16 units of the longest text that is read at once. */
const tinyText = 512;

/** Milliseconds without a text after which the thread is ended. */
const idleTime = 30_000;

/** Texts that one owner may have waiting: the worst take half a second each. */
const maxWaiting = 50;

/** Memory of the thread: several times what the worst text needs. */
const resourceLimits = { maxOldGenerationSizeMb: 256 };

interface Pending {
  question: YamlQuestion;
  resolve(value: YamlValue | TextPlace[]): void;
  reject(error: Error): void;
}

class ThreadReader implements YamlReader {
  readonly #queue = createFairQueue<Pending>(maxWaiting);
  #worker: Worker | undefined;
  #pending: Pending | undefined;
  #idle: NodeJS.Timeout | undefined;
  #lastShort: Promise<unknown> = Promise.resolve();

  async read(owner: string, text: string, limits: YamlLimits): Promise<YamlValue> {
    // What is too long is refused before anything is read.
    if (text.length <= tinyText || text.length > limits.maxLength) return readYaml(text, limits);
    if (text.length <= shortText) return this.#inTurn(() => readYaml(text, limits));
    return (await this.#ask(owner, { text, limits })) as YamlValue;
  }

  async locate(
    owner: string,
    text: string,
    paths: readonly (readonly (string | number)[])[],
  ): Promise<TextPlace[]> {
    if (text.length <= shortText) return this.#inTurn(() => findPlaces(text, paths));
    return (await this.#ask(owner, { text, paths })) as TextPlace[];
  }

  #ask(owner: string, question: YamlQuestion): Promise<YamlValue | TextPlace[]> {
    return new Promise((resolve, reject) => {
      const pending = { question, resolve, reject };
      if (!this.#queue.push(owner, pending)) reject(new YamlBusy("Too many texts are waiting to be read"));
      this.#pump();
    });
  }

  /** Reads one short text in each turn of the event loop, however many come at once. */
  #inTurn<T>(work: () => T): Promise<T> {
    const mine = this.#lastShort.then(async () => {
      await nextTurn();
      return work();
    });
    this.#lastShort = mine.catch(() => {});
    return mine;
  }

  #pump(): void {
    if (this.#pending !== undefined) return;
    const pending = this.#queue.shift();
    if (pending === undefined) return;
    clearTimeout(this.#idle);
    try {
      this.#worker ??= this.#start();
    } catch (error) {
      pending.reject(new YamlBusy("A thread could not be started", { cause: error }));
      return this.#pump();
    }
    this.#pending = pending;
    // While a text is read, the process stays; without one the thread does not keep it.
    this.#worker.ref();
    // A thread is no window: there is no origin to name.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    this.#worker.postMessage(pending.question);
  }

  #start(): Worker {
    const worker = startThread("yaml", { name: "yaml", resourceLimits });
    worker.on("message", (answer: YamlAnswer) => this.#finish(answer));
    worker.on("error", (error) => this.#lose(worker, error));
    worker.on("exit", () => this.#lose(worker, undefined));
    return worker;
  }

  #finish(answer: YamlAnswer): void {
    const pending = this.#pending;
    this.#pending = undefined;
    if (answer.kind === "value") pending?.resolve(answer.value);
    else pending?.reject(new YamlError(answer.message, answer));
    this.#worker?.unref();
    this.#idle = setTimeout(() => this.#rest(), idleTime).unref();
    this.#pump();
  }

  /** Ends the thread, which is given nothing from now on. */
  #rest(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
  }

  #lose(worker: Worker, cause: Error | undefined): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    clearTimeout(this.#idle);
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.reject(new YamlBusy("The thread that reads ended", { cause }));
    this.#pump();
  }
}

/** The program's reader, in one thread of its own that starts when it is needed. */
export const yamlReader: YamlReader = new ThreadReader();
