import { parentPort } from "node:worker_threads";

import { present } from "./present.ts";
import { readYaml, type YamlError } from "./yaml.ts";
import { findPlaces } from "./yaml-places.ts";
import type { YamlAnswer, YamlQuestion } from "./yaml-aside.ts";

/** Entry of the thread that reads YAML, one text at a time. */
const port = present(parentPort, "this is the inside of a thread");

function answer(question: YamlQuestion): YamlAnswer {
  const { text } = question;
  try {
    return "paths" in question
      ? { kind: "value", value: findPlaces(text, question.paths) }
      : { kind: "value", value: readYaml(text, question.limits) };
  } catch (error) {
    // Nothing else is thrown.
    const { message, line, column } = error as YamlError;
    return { kind: "error", message, line, column };
  }
}

port.on("message", (question: YamlQuestion) => port.postMessage(answer(question)));
