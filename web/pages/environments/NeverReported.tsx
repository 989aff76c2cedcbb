import { commandPlace } from "../../api/place.ts";
import { reporterCommand } from "../../domain/commands.ts";
import { Commands } from "../../parts/Commands.tsx";
import { Empty } from "../../ui/Empty.tsx";
import { useNow } from "../../ui/Time.tsx";
import type { Environment } from "./queries.ts";

/** Stands where reports would be seen, with the command that makes the first. */
export function NeverReported({ org, environment }: { org: string; environment: Environment }) {
  const now = useNow();
  const command = reporterCommand(commandPlace(org), environment, now);
  if (command === undefined)
    return (
      <Empty
        title="Nothing runs here yet"
        text="A logical environment shows what runs in its members, once one of them was reported on."
      />
    );
  return (
    <Empty
      title="Nobody has reported what runs here"
      text="A reporter tells this server what runs. Let it run beside the environment, every few minutes."
    >
      <Commands command={command} label="reporter's command" />
    </Empty>
  );
}
