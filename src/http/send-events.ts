import type { ServerResponse } from "node:http";

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Counter } from "prom-client";

import type { EventStream, ServerEvent, Telling } from "../contract/event-stream.ts";
import { AppError, overloaded } from "../domain/errors.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { showGauge } from "../modules/kernel/metrics.ts";
import { ownerOf } from "./owner.ts";
import { whenGone } from "./when-gone.ts";

/** Streams open at once: of all callers, of one key or session, of all without one, and of one address among these. */
const streamLimits = { all: 1_000, perCaller: 12, strangers: 250, perAddress: 50 };

/** Milliseconds between two heartbeats, and after which it is asked again whether a caller may still listen. */
export const streamPace = { heartbeat: 15_000, access: 30_000 };

/** Bytes that wait for a client which does not read, before it is cut off. */
const mostUnread = 256 * 1024;

/** Milliseconds after which a client that lost its stream comes back. */
const comeBack = 3_000;

/** Writes an event (WHATWG HTML, section 9.2.5): JSON is one line. */
function eventText({ name, data, id }: ServerEvent): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Counts the streams of callers. */
class OpenStreams {
  readonly #byOwner = new Map<string, number>();
  all = 0;
  #strangers = 0;

  /**
   * Counts a stream that is about to be opened. @returns what is to be called when it is closed; only its first call counts.
   * @throws AppError rate_limited when the caller has too many, unavailable when there are too many.
   */
  add(owner: string, isKnown: boolean): () => void {
    const own = this.#byOwner.get(owner) ?? 0;
    if (this.all >= streamLimits.all || (!isKnown && this.#strangers >= streamLimits.strangers))
      throw overloaded();
    if (own >= (isKnown ? streamLimits.perCaller : streamLimits.perAddress))
      throw new AppError("rate_limited", "Too many streams are open already, close some of them");
    const count = (by: number): void => {
      this.all += by;
      if (!isKnown) this.#strangers += by;
      const left = (this.#byOwner.get(owner) ?? 0) + by;
      if (left === 0) this.#byOwner.delete(owner);
      else this.#byOwner.set(owner, left);
    };
    count(1);
    let isOpen = true;
    return () => {
      if (isOpen) count(-1);
      isOpen = false;
    };
  }
}

/** Sends what is told to clients while they listen. Takes no place of long answers: most of the time nothing is sent. */
export class EventSender {
  readonly #deps: Pick<Deps, "log">;
  readonly #open = new OpenStreams();
  readonly #ends = new Set<() => void>();
  #isStopping = false;
  readonly #told: Counter;
  readonly #cutOff: Counter;

  constructor(app: FastifyInstance, deps: Pick<Deps, "metrics" | "log">) {
    this.#deps = deps;
    const registers = [deps.metrics.registry];
    const open = this.#open;
    const figure = { name: "waybill_http_event_streams", help: "Clients that listen to events" };
    showGauge(deps.metrics, figure, () => open.all);
    this.#told = new Counter({ name: "waybill_http_events_total", help: "Events that were told", registers });
    this.#cutOff = new Counter({
      name: "waybill_http_event_streams_cut_off_total",
      help: "Streams of events that were closed because the client did not read them",
      registers,
    });
    // Who listens comes back, to a server that goes on.
    app.draining.whenEnding(() => {
      this.#isStopping = true;
      for (const end of this.#ends) end();
    });
  }

  /** Begins a stream, which goes on after this has returned. */
  async send(
    request: FastifyRequest,
    reply: FastifyReply,
    head: { headers: Record<string, string> },
    body: EventStream,
  ): Promise<FastifyReply> {
    // Proxies are asked to pass on each event when it comes.
    const headers = { ...head.headers, "x-accel-buffering": "no" };
    if (request.method === "HEAD") return reply.code(200).headers(headers).send("");
    const isKnown = request.caller?.principal !== undefined;
    const leave = this.#open.add(ownerOf(request), isKnown);
    whenGone(reply, leave);
    try {
      await this.#begin(request, reply, { headers, body });
    } catch (error) {
      leave();
      throw error;
    }
    return reply;
  }

  async #begin(
    request: FastifyRequest,
    reply: FastifyReply,
    { headers, body }: { headers: Record<string, string>; body: EventStream },
  ): Promise<void> {
    const { raw } = reply;
    const held: string[] = [`retry: ${comeBack}\n\n`];
    const write = (text: string): void => {
      if (!raw.headersSent) held.push(text);
      else this.#write(raw, text);
    };
    const telling = await body.open({
      tell: (events) => {
        if (events.length === 0) return;
        this.#told.inc(events.length);
        write(events.map(eventText).join(""));
      },
    });
    const end = this.#keepAlive(request, raw, telling, write);
    this.#ends.add(end);
    const forget = (): void => {
      this.#ends.delete(end);
      end();
    };
    raw.once("close", forget);
    reply.code(200).headers(headers).hijack();
    raw.writeHead(200, reply.getHeaders() as Record<string, string>);
    raw.write(held.join(""));
    // The client went away, or the server began to stop, while it was found out what to tell.
    if (raw.destroyed || this.#isStopping) forget();
  }

  /** Sends heartbeats, and ends the stream when its caller may not listen any more. @returns a function that ends it. */
  #keepAlive(request: FastifyRequest, raw: ServerResponse, telling: Telling, write: (text: string) => void) {
    const beat = setInterval(() => {
      write(eventText({ name: "heartbeat", data: {}, id: telling.position() }));
    }, streamPace.heartbeat).unref();
    const end = (): void => {
      clearInterval(beat);
      clearInterval(check);
      telling.close();
      raw.end();
    };
    const role = request.caller?.org?.role;
    const check = setInterval(() => {
      void this.#mayListen(request, role).then((may) => (may ? undefined : end()));
    }, streamPace.access).unref();
    return end;
  }

  /** Asks again. While the database is away nothing is told that could be too much. */
  async #mayListen(request: FastifyRequest, role: string | undefined): Promise<boolean> {
    try {
      const caller = await request.authorizeAgain?.();
      return caller?.org?.role === role;
    } catch (error) {
      return !(error instanceof AppError) || error.kind === "unavailable";
    }
  }

  #write(raw: ServerResponse, text: string): void {
    if (raw.destroyed || raw.writableEnded) return;
    if (raw.writableLength <= mostUnread) return void raw.write(text);
    this.#cutOff.inc();
    this.#deps.log.warn("client does not read its events and is cut off");
    raw.destroy();
  }
}
