import { Agent, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

/** How many reports were sent, and how many of them acknowledged. */
export interface ReportCounts {
  sent: number;
  acknowledged: number;
}

const boundary = "waybill-test-3e81";
const attestationsOfTrail = 10;

/** Sends one attestation, on a connection that is kept. @returns the status; undefined when the connection failed. */
function sendReport(
  agent: Agent,
  { url, key }: { url: string; key: string },
  count: number,
): Promise<number | undefined> {
  const data = {
    attestation_name: `unit-${count % attestationsOfTrail}`,
    is_compliant: count % 3 !== 0,
    user_data: {},
  };
  const body = `--${boundary}\r\ncontent-disposition: form-data; name="data_json"\r\n\r\n${JSON.stringify(data)}\r\n--${boundary}--\r\n`;
  const trail = `run-${Math.floor(count / attestationsOfTrail)}`;
  return new Promise((resolve) => {
    const sent = request(
      `${url}/api/v2/attestations/main/web/trail/${trail}/generic`,
      {
        method: "POST",
        agent,
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": `multipart/form-data; boundary=${boundary}`,
        },
      },
      (answer) => {
        answer.resume();
        answer.once("end", () => resolve(answer.statusCode));
        answer.once("error", () => resolve(undefined));
      },
    );
    sent.once("error", () => resolve(undefined));
    sent.end(body);
  });
}

/**
 * Reports on new trails, ten times each, from some connections until told to stop. It is made of little, so that many reports a second
 * leave the processors to the server.
 */
export function reportWhile(
  server: { url: string; key: string },
  reporters: number,
  stop: AbortSignal,
): { counts: ReportCounts; reporting: Promise<unknown> } {
  const counts: ReportCounts = { sent: 0, acknowledged: 0 };
  const agent = new Agent({ keepAlive: true });
  const reporter = async (): Promise<void> => {
    while (!stop.aborted) {
      counts.sent += 1;
      if ((await sendReport(agent, server, counts.sent)) === 201) counts.acknowledged += 1;
      else await delay(20);
    }
  };
  const reporting = Promise.all(Array.from({ length: reporters }, reporter)).finally(() => agent.destroy());
  return { counts, reporting };
}
