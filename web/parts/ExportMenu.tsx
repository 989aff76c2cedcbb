import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";

import { downloadCsv, type ExportedList } from "../api/export.ts";
import { exportList, type ExportForm, mostRows } from "../domain/exports.ts";
import { numberWords } from "../domain/numbers.ts";
import { Button } from "../ui/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Row } from "../ui/Layout.tsx";
import { Menu } from "../ui/Menu.tsx";
import { Note } from "../ui/Note.tsx";
import { type Download, saveAs } from "../ui/save.ts";

const types = { csv: "text/csv", json: "application/json" } as const;
interface Made {
  file: Download;
  /** What is to be said of it. */
  remark?: string | undefined;
}

type Progress = (words: string) => void;

async function streamed(address: string, signal: AbortSignal, progress: Progress): Promise<Made> {
  const file = await downloadCsv(address, signal, (bytes) =>
    progress(bytes < 1e6 ? `${numberWords(Math.ceil(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`),
  );
  return { file };
}

async function collected(
  { file, batches, columns = [], csv }: ExportedList,
  form: ExportForm,
  signal: AbortSignal,
  progress: Progress,
): Promise<Made> {
  const { pieces, isCut } = await exportList(batches(signal), { form, columns }, (rows, total) =>
    progress(`${numberWords(rows)}${total === undefined ? "" : ` of ${numberWords(total)}`} rows`),
  );
  const rest = csv === undefined ? "Filter for fewer." : "The CSV has all.";
  return {
    file: { name: `${file}.${form}`, content: new Blob(pieces, { type: types[form] }) },
    remark: isCut ? `The file has the first ${numberWords(mostRows)} rows. ${rest}` : undefined,
  };
}

function useExport(list: ExportedList) {
  const stopper = useRef<AbortController>(undefined);
  const [words, setWords] = useState("");
  const save = useMutation({
    gcTime: 0,
    mutationFn: async (form: ExportForm) => {
      const { signal } = (stopper.current = new AbortController());
      setWords("");
      return form === "csv" && list.csv !== undefined
        ? streamed(list.csv, signal, setWords)
        : collected(list, form, signal, setWords);
    },
    onSuccess: ({ file }) => saveAs(file),
  });
  const isStopped = save.error instanceof DOMException && save.error.name === "AbortError";
  return {
    save: save.mutate,
    stop: () => stopper.current?.abort(),
    progress: save.isPending ? words : undefined,
    error: isStopped ? undefined : save.error?.message,
    remark: save.data?.remark,
  };
}

/** Saves all that a list has under its filters as CSV or JSON, says how far that is, and stops when told to. */
export function ExportMenu({ list, refused }: { list: ExportedList; refused?: string | undefined }) {
  const { save, stop, progress, error, remark } = useExport(list);
  if (refused !== undefined)
    return (
      <Button icon="download" refused={refused}>
        Export
      </Button>
    );
  return (
    <Row>
      {error === undefined ? null : <Note kind="bad">{error}</Note>}
      {remark === undefined ? null : <Note kind="warn">{remark}</Note>}
      {progress === undefined ? (
        <Menu label="Export" face="Export" icon="download">
          <button type="button" onClick={() => save("csv")}>
            <Icon name="download" />
            CSV
          </button>
          <button type="button" onClick={() => save("json")}>
            <Icon name="json" />
            JSON
          </button>
          {list.whole?.map(({ words, href }) => (
            <a key={words} href={href} download="">
              <Icon name="download" />
              {words}
            </a>
          ))}
        </Menu>
      ) : (
        <>
          <output>{progress === "" ? "Under way" : progress}</output>
          <Button icon="close" onClick={stop}>
            Stop
          </Button>
        </>
      )}
    </Row>
  );
}
