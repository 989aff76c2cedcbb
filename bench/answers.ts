// A client that reads no more of answers than their status and where they end: a complete one would use as much of the
// processors as the measured server.
import { connect } from "node:net";

/** How an answer's end is known: by its length, or by the last chunk. */
interface Answer {
  status: number;
  /** Bytes of the body still to come; undefined when it comes in chunks. */
  missing: number | undefined;
  /** The last bytes that came, as many as the end of the last chunk has. */
  tail: string;
}

/** How a body in chunks ends (RFC 9112 section 7.1). */
const lastChunk = "\r\n0\r\n\r\n";

/** Reads the head of an answer, and how its end is known; undefined while the head is incomplete. "Not modified" has no body. */
function readHead(bytes: Buffer): Answer | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const head = bytes.toString("latin1", 0, end);
  const status = Number(head.slice(9, 12));
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (status === 304) return { status, missing: 0, tail: "" };
  if (length !== undefined) return { status, missing: Number(length) - (bytes.length - end - 4), tail: "" };
  if (!/\r\ntransfer-encoding: *chunked/i.test(head))
    throw new Error(`An answer does not say where it ends:\n${head}`);
  return { status, missing: undefined, tail: tailOf("", bytes) };
}

/** Keeps the last bytes of what has come. */
function tailOf(before: string, bytes: Buffer): string {
  const last = bytes.toString("latin1", Math.max(0, bytes.length - lastChunk.length));
  return (before + last).slice(-lastChunk.length);
}

function hasEnded({ missing, tail }: Answer): boolean {
  return missing === undefined ? tail === lastChunk : missing <= 0;
}

/** A connection on which one request is sent after the other. */
export interface Line {
  /** Sends a request, when the one before was answered. */
  ask(request: Buffer, onAnswer: (status: number) => void): void;
  end(): void;
}

interface Events {
  onOpen(line: Line): void;
  /** Called when the connection fails, or is closed by the other side. */
  onBroken(error: unknown): void;
}

/** Opens a connection. */
export function openLine(target: { host: string; port: number }, { onOpen, onBroken }: Events): void {
  const socket = connect(target);
  let answer: Answer | undefined;
  let head: Buffer | undefined;
  let answered: (status: number) => void = () => {};
  const receive = (bytes: Buffer): void => {
    if (answer === undefined) {
      const known = head === undefined ? bytes : Buffer.concat([head, bytes]);
      answer = readHead(known);
      head = answer === undefined ? known : undefined;
    } else if (answer.missing === undefined) answer.tail = tailOf(answer.tail, bytes);
    else answer.missing -= bytes.length;
    if (answer === undefined || !hasEnded(answer)) return;
    const { status } = answer;
    answer = undefined;
    answered(status);
  };
  const onClose = (): void => onBroken(new Error("The server closed a connection"));
  const line: Line = {
    ask(request, onAnswer) {
      answered = onAnswer;
      socket.write(request);
    },
    end: () => void socket.off("close", onClose).end(),
  };
  socket.once("connect", () => onOpen(line)).once("error", onBroken);
  socket.setNoDelay(true).once("close", onClose);
  socket.on("data", (bytes) => {
    try {
      receive(bytes);
    } catch (error) {
      onBroken(error);
    }
  });
}
