// Drives an installed Waybill as a newcomer would: starts it, reports, makes a backup, stops, starts again, reads. Arguments: the command to run and its
// arguments before `serve`. WAYBILL_DATA_DIR says where data go, which has to be empty or not there yet.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const [command, ...before] = process.argv.slice(2);
const dataDir = process.env["WAYBILL_DATA_DIR"];
if (command === undefined || dataDir === undefined)
  throw new Error("usage: WAYBILL_DATA_DIR=… smoke.mjs COMMAND…");

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

const port = await freePort();
const environment = { ...process.env, PORT: String(port) };
const run = (...args) => spawnSync(command, [...before, ...args], { env: environment, encoding: "utf8" });

const isReady = () =>
  fetch(`http://127.0.0.1:${port}/ready`).then(
    ({ ok }) => ok,
    () => false,
  );

async function start() {
  const child = spawn(command, [...before, "serve"], {
    env: environment,
    stdio: ["ignore", "pipe", "inherit"],
  });
  child.stdout.resume();
  // What fails here leaves no server behind.
  process.once("exit", () => child.kill("SIGTERM"));
  const deadline = Date.now() + 120_000;
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    if (Date.now() > deadline) throw new Error("it was not ready in time");
    await delay(100);
  }
  const health = run("health");
  if (health.status !== 0) throw new Error(`it is ready, but not healthy: ${health.stderr}`);
  return child;
}

async function stop(child) {
  child.kill("SIGTERM");
  const [status] = await once(child, "exit");
  if (status !== 0) throw new Error(`it stopped with ${status}`);
}

async function ask(method, path, body) {
  const key = readFileSync(join(dataDir, "initial-admin-key"), "utf8").trim();
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text;
}

async function environments() {
  const { default_org_name: org } = JSON.parse(await ask("GET", "/api/v2/user/default-org"));
  return { org, names: JSON.parse(await ask("GET", `/api/v2/environments/${org}`)).map(({ name }) => name) };
}

const version = run("--version");
if (version.status !== 0) throw new Error(version.stderr);
console.log(`waybill ${version.stdout.trim()}`);
let server = await start();
const { org } = await environments();
await ask("PUT", `/api/v2/environments/${org}`, { name: "smoke", type: "server", description: "" });
const artifacts = [{ digests: { "bin/app": "a".repeat(64) }, creationTimestamp: 1_700_000_000 }];
await ask("PUT", `/api/v2/environments/${org}/smoke/report/server`, { artifacts });
console.log("first start, report");
const file = join(dataDir, "backup.tar");
const backup = run("backup", "--to", file);
if (backup.status !== 0) throw new Error(`the backup ended with ${backup.status}: ${backup.stderr}`);
const checked = run("backup", "check", file);
if (checked.status !== 0) throw new Error(`the backup is not whole: ${checked.stderr}`);
console.log("backup");
await stop(server);
server = await start();
const { names } = await environments();
if (!names.includes("smoke")) throw new Error("what was reported is gone");
const page = await fetch(`http://127.0.0.1:${port}/`, { headers: { accept: "text/html" } });
if (!(await page.text()).includes("<html")) throw new Error("there is no web app");
await stop(server);
console.log("restart, list, web app");
