// Sends new reports at a rate, whatever the answers do, and sends back how long each took. A process of its own, like load.ts.
import { type Line, openLine } from "./answers.ts";
import { type LoadJob, newReports } from "./requests.ts";

/** The message to this process; another one, of any content, has it stop. */
export interface PacedJob extends Pick<LoadJob, "url" | "key" | "seconds"> {
  reports: NonNullable<LoadJob["reports"]>;
  /** Reports a second. */
  rate: number;
}

/** What came of it. */
export interface PacedResult {
  /** How long reports took that were due within each second, in milliseconds, from when they were due. */
  times: number[][];
  /** Reports that were not answered with success. */
  failed: number;
}

/** How often is looked for what is due, in milliseconds. */
const tickMs = 1;

/** Sends at the job's rate until its seconds are over, or it is stopped: as many connections as there are reports under way. */
function sendPaced(job: PacedJob, stop: AbortSignal): Promise<PacedResult> {
  const { hostname, port } = new URL(job.url);
  const target = { host: hostname, port: Number(port) };
  const reports = newReports(job, job.reports);
  const result: PacedResult = { times: Array.from({ length: job.seconds }, () => []), failed: 0 };
  const idle: Line[] = [];
  const begun = performance.now();
  let [sent, underWay] = [0, 0];
  return new Promise((resolve, reject) => {
    const sendOne = (due: number): void => {
      const ask = (line: Line): void =>
        line.ask(reports.next().value, (status) => {
          result.times[Math.floor(due / 1000)]?.push(performance.now() - begun - due);
          if (status !== 201) result.failed += 1;
          underWay -= 1;
          idle.push(line);
        });
      // In turns: a connection that is idle for long is closed by the server.
      const line = idle.shift();
      underWay += 1;
      if (line === undefined) openLine(target, { onOpen: ask, onBroken: reject });
      else ask(line);
    };
    const tick = (): void => {
      const now = performance.now() - begun;
      const isOver = stop.aborted || now >= job.seconds * 1000;
      if (!isOver) for (; (sent * 1000) / job.rate <= now; sent += 1) sendOne((sent * 1000) / job.rate);
      if (!isOver || underWay > 0) return;
      clearInterval(timer);
      for (const line of idle) line.end();
      resolve(result);
    };
    const timer = setInterval(tick, tickMs);
  });
}

const stopping = new AbortController();
process.once("message", (message) => {
  process.once("message", () => stopping.abort());
  void sendPaced(message as PacedJob, stopping.signal).then((result) =>
    process.send?.(result, () => process.disconnect()),
  );
});
