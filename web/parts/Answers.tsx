import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { type Asked, askedRequests } from "../api/asked.ts";
import { commandPlace } from "../api/place.ts";
import { fileNameOf } from "../domain/answers.ts";
import { numberWords } from "../domain/numbers.ts";
import { requestCommand } from "../domain/request-commands.ts";
import { requestPath } from "../domain/requests.ts";
import { Button } from "../ui/Button.tsx";
import { CodeBlock } from "../ui/Copy.tsx";
import { Drawer } from "../ui/Drawer.tsx";
import { Note } from "../ui/Note.tsx";
import { saveAs } from "../ui/save.ts";
import styles from "./Answers.module.css";
import { Commands } from "./Commands.tsx";

/** How much of an answer is shown, in characters: browsers take long to break more into lines. */
const shownCharacters = 100_000;

/** An answer as it is kept: readable, copied and saved whole. */
function Answer({ asked }: { asked: Asked }) {
  if (asked.answer === undefined)
    return <Note kind="bad">{asked.error?.message ?? "It has not answered yet."}</Note>;
  const text = JSON.stringify(asked.answer, null, 2);
  const file = fileNameOf(asked);
  return (
    <section className={styles["answer"]} aria-label="Answer">
      <div className={styles["line"]}>
        <h3>Answer</h3>
        <span>{numberWords(text.length)} characters</span>
        <Button
          icon="download"
          onClick={() =>
            saveAs({ name: file, content: new Blob([text, "\n"], { type: "application/json" }) })
          }
        >
          Download
        </Button>
      </div>
      <CodeBlock text={text} shown={text.slice(0, shownCharacters)} label="answer" />
      {text.length > shownCharacters ? (
        <Note>This is its beginning. Copied or downloaded it is whole.</Note>
      ) : null}
    </section>
  );
}

/** Lists what a page has asked, with commands that ask the same, and shows what was answered. */
export function Answers({ org, onClose }: { org: string; onClose: () => void }) {
  const queries = useQueryClient();
  // What is read stays as it was when it was opened.
  const [all] = useState(() => askedRequests(queries));
  const [chosen, choose] = useState(0);
  const asked = all[chosen];
  return (
    <Drawer title="Answers behind this page" kind="JSON" onClose={onClose}>
      {all.length === 0 ? <Note>This page asks for nothing.</Note> : null}
      <fieldset className={styles["requests"]} aria-label="Requests">
        {all.map((one, index) => (
          <button
            key={`${one.operation} ${requestPath(one)}`}
            type="button"
            aria-pressed={index === chosen}
            onClick={() => choose(index)}
          >
            <span>GET</span> {requestPath(one)}
          </button>
        ))}
      </fieldset>
      {asked === undefined ? null : (
        <>
          <Commands command={requestCommand(commandPlace(org), asked)} label="command that asks the same" />
          <Answer key={chosen} asked={asked} />
        </>
      )}
    </Drawer>
  );
}
