// What a service costs that does nothing but HTTP and JSON: answers each GET with the same objects, made into text each
// time or once, and each POST by parsing it and saying OK. In a process of its own, like the server it is compared with.
import { createServer } from "node:http";

/** The message from the parent: what to answer. */
export interface BareAnswer {
  objects: unknown;
  /** Whether they are made into text once: what a service costs that has all answers ready. */
  ready?: boolean;
}

process.once("message", (message) => {
  const { objects, ready = false } = message as BareAnswer;
  const bytes = Buffer.from(JSON.stringify(objects));
  const server = createServer((request, response) => {
    if (request.method === "GET") {
      const text = ready ? bytes : JSON.stringify(objects);
      response.writeHead(200, {
        "content-type": "application/json; charset=utf-8",
        "content-length": Buffer.byteLength(text),
      });
      response.end(text);
      return;
    }
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const text = Buffer.concat(parts).toString("utf8");
      // A form has one field, and that is JSON.
      JSON.parse(text.startsWith("--") ? text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1) : text);
      response.writeHead(201, { "content-type": "application/json; charset=utf-8", "content-length": 4 });
      response.end('"OK"');
    });
  });
  server.listen(0, "127.0.0.1", () => process.send?.(server.address()));
});
process.once("disconnect", () => process.exit());
