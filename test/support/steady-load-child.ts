// Loads a server from another network than the tests': arguments are port, key, and requests a second. Ends when its input does.
import { organizationOf, SteadyLoad } from "./steady-load.ts";

async function main(): Promise<void> {
  const [port = "", key = "", perSecond = ""] = process.argv.slice(2);
  const org = await organizationOf(Number(port), key);
  const load = new SteadyLoad({ port: Number(port), key, org }, Number(perSecond));
  process.stdin.resume().once("end", () => load.stop());
  await load.run();
  const { statuses, longest } = load;
  console.log(JSON.stringify({ statuses, longest: Math.round(longest), lost: await load.lost() }));
}

void main();
