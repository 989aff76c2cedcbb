// What a web app is compared with: a page that asks the same addresses and writes the answers into a table by hand, and a server
// that makes the same objects into text for each request. In a process of its own, like the server it is compared with.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

/** The message from the parent: what to answer from now on, by path with query. It is told when that is so. */
export interface BareAnswers {
  answers: Record<string, unknown>;
}

const page = readFileSync(new URL("bare.html", import.meta.url));
let answers: Record<string, unknown> = {};

const server = createServer((request, response) => {
  if (request.url === "/") {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", "content-length": page.length });
    response.end(page);
    return;
  }
  const text = JSON.stringify(answers[request.url ?? ""] ?? []);
  response.writeHead(200, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
});

process.on("message", (message) => {
  ({ answers } = message as BareAnswers);
  if (server.listening) process.send?.(server.address());
  else server.listen(0, "127.0.0.1", () => process.send?.(server.address()));
});
process.once("disconnect", () => process.exit());
