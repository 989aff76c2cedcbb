import { useState } from "react";

import type { Command } from "../domain/commands.ts";
import { CodeBlock } from "../ui/Copy.tsx";
import styles from "./Commands.module.css";

const programs = [
  ["curl", "curl"],
  ["client", "Command-line client"],
  ["json", "JSON"],
] as const;
type Program = (typeof programs)[number][0];

interface CommandsProps {
  /** With what is sent as JSON, where that is of use by itself. */
  command: Command & { json?: string | undefined };
  label: string;
}

/** Shows a command for each program that can do it, one at a time. */
export function Commands({ command, label }: CommandsProps) {
  const [chosen, choose] = useState<Program>("curl");
  const { fillIn } = command;
  const offered = programs.filter(([program]) => command[program] !== undefined);
  return (
    <div className={styles["commands"]} data-no-print>
      {offered.length < 2 ? null : (
        <fieldset className={styles["choice"]} aria-label="Program">
          {offered.map(([program, words]) => (
            <button
              key={program}
              type="button"
              aria-pressed={program === chosen}
              onClick={() => choose(program)}
            >
              {words}
            </button>
          ))}
        </fieldset>
      )}
      <CodeBlock text={command[chosen] ?? command.curl} label={label} />
      {fillIn === undefined ? null : (
        <p className={styles["hint"]}>A sample: put in {fillIn} before you run it.</p>
      )}
    </div>
  );
}
