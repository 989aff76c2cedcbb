import { parentPort } from "node:worker_threads";

import { readYaml, type YamlError } from "./yaml.ts";
import type { YamlAnswer, YamlQuestion } from "./yaml-aside.ts";

/** The inside of the thread that reads YAML: one text at a time. */
const port = parentPort!;

function answer({ text, limits }: YamlQuestion): YamlAnswer {
  try {
    return { kind: "value", value: readYaml(text, limits) };
  } catch (error) {
    // Nothing else is thrown.
    const { message, line } = error as YamlError;
    return { kind: "error", message, line };
  }
}

port.on("message", (question: YamlQuestion) => port.postMessage(answer(question)));
