import { useEffect, useState } from "react";

import type { Sending } from "../api/action.ts";
import { commandPlace } from "../api/place.ts";
import { type RequestCommand, requestCommand } from "../domain/request-commands.ts";
import { formParts } from "../domain/requests.ts";
import { Icon } from "../ui/Icon.tsx";
import { Note } from "../ui/Note.tsx";
import styles from "./Commands.module.css";
import { Commands } from "./Commands.tsx";

async function commandOf({ operation, input }: Sending): Promise<RequestCommand> {
  const org = input.params?.["org"];
  const parts = input.body instanceof FormData ? await formParts(input.body) : undefined;
  return requestCommand(commandPlace(typeof org === "string" ? org : ""), { operation, input }, parts);
}

/** Names a request by what would be sent: forms by all their parts, which are read one after the other. */
function useCommands(sends: readonly Sending[]): readonly RequestCommand[] {
  const [commands, setCommands] = useState<readonly RequestCommand[]>([]);
  useEffect(() => {
    let isCurrent = true;
    void Promise.all(sends.map(commandOf)).then((made) => {
      if (isCurrent) setCommands((before) => (isSame(before, made) ? before : made));
    });
    return () => {
      isCurrent = false;
    };
  }, [sends]);
  return commands;
}

const isSame = (before: readonly RequestCommand[], after: readonly RequestCommand[]): boolean =>
  before.length === after.length && before.every(({ curl }, index) => curl === after[index]?.curl);

/** How many requests are shown as commands: who sends more writes a loop. */
const shownRequests = 5;

function SentCommands({ sends }: { sends: readonly Sending[] }) {
  const commands = useCommands(sends);
  if (sends.length === 0) return <Note>Nothing is chosen yet.</Note>;
  return (
    <>
      {commands.slice(0, shownRequests).map((command, index) => (
        // Requests have no name but their place.
        // oxlint-disable-next-line react/no-array-index-key
        <Commands key={index} command={command} label="command that does this" />
      ))}
      {commands.length > shownRequests ? (
        <Note>And {commands.length - shownRequests} more like these.</Note>
      ) : null}
    </>
  );
}

/** Shows what a dialog will send, as commands and as JSON, to who opens it. */
export function Sent({ sends }: { sends: readonly Sending[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className={styles["sent"]} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Icon name="terminal" size={14} />
        As a command
      </summary>
      {isOpen ? <SentCommands sends={sends} /> : null}
    </details>
  );
}
