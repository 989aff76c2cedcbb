// Holds a listening socket as systemd does, and runs one server after the other on it: each is handed the socket as descriptor 3.
// It never accepts a connection itself: it only waits for its children. Arguments: how many servers to run, then the command.
import { spawnSync } from "node:child_process";
import { createServer } from "node:net";

const [rounds, ...command] = process.argv.slice(2);
const held = createServer().listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
  console.log(JSON.stringify({ held: held.address().port }));
  const handOver = 'LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" "$@"';
  const stdio = ["ignore", "inherit", "inherit", held._handle.fd];
  for (let round = 0; round < Number(rounds); round += 1) {
    const { status } = spawnSync("sh", ["-c", handOver, ...command], { stdio });
    console.log(JSON.stringify({ ended: status }));
  }
  process.exit();
});
