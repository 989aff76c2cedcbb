/** The media type of server-sent events (WHATWG HTML, section 9.2). */
export const eventStreamType = "text/event-stream; charset=utf-8";

/** An event that is told to a client. */
export interface ServerEvent {
  name: string;
  data: object;
  /** By which a client says how far it has been told. One without does not move that. */
  id?: string;
}

/** Whom events are told. */
export interface EventSink {
  tell(events: readonly ServerEvent[]): void;
}

/** What goes on while a client listens. */
export interface Telling {
  /** How far the client has been told, as the id of the last event is. */
  position(): string;
  /** Ends it. */
  close(): void;
}

/** A body of events, which are told when they happen, until either side ends it. */
export class EventStream {
  /** Begins to tell; what fails here is answered as an error. */
  readonly open: (sink: EventSink) => Promise<Telling>;

  constructor(open: (sink: EventSink) => Promise<Telling>) {
    this.open = open;
  }
}
