import { form } from "../client.ts";
import { digest, each, numbers, type Scene, type Shape } from "../scene.ts";

const mostYaml = 128 * 1024;

/** Repeats a piece until the text is as long as a file may be. */
function fill(head: string, piece: string, tail = "", length = mostYaml): string {
  return head + piece.repeat(Math.floor((length - head.length - tail.length) / piece.length)) + tail;
}

function counted(head: string, piece: (index: number) => string, tail = "", length = mostYaml): string {
  let text = head;
  for (let index = 0; text.length < length - tail.length - 100; index += 1) text += piece(index);
  return text + tail;
}

/** YAML files that are expensive to read, as long as they may be. */
const hostileYaml: Record<string, string> = {
  "flow collections, one in the other": fill("a: ", "["),
  "block mappings, one in the other": numbers(480)
    .map((depth) => `${" ".repeat(depth)}a:`)
    .join("\n"),
  "keys without values": counted("", (index) => `k${index}:\n`),
  "explicit keys": fill("", "? a\n"),
  "empty flow mappings": fill("a: [", "{},", "]"),
  "short values": fill("a: [", "1,", "]"),
  anchors: counted("a:\n", (index) => ` - &a${index} x\n`),
  aliases: fill("a: &a [1]\nb: [", "*a,", "]"),
  "aliases of aliases": counted(
    "a0: &a0 [1]\n",
    (index) => `a${index + 1}: &a${index + 1} [*a${index},*a${index}]\n`,
  ),
  comments: fill("", "#\n"),
  "comments inside flow": fill("a: [", "#\n", "]"),
  "folded lines": fill("a: >\n", " x\n\n"),
  "a quoted text of escapes": fill('a: "', "\\x41", '"'),
  "a quoted text never ended": fill('a: "', "x\n "),
  documents: fill("", "---\n"),
  directives: fill("", "%TAG !a! b\n", "--- a"),
  tags: fill("a: [", "!!str x,", "]"),
  "tabs and blanks": fill("a:", " \t", "b"),
  "line ends": fill("a:", "\r", "b"),
  "wrong everywhere": fill("", "- - : ? , ]\n"),
};

const yaml: Shape = {
  name: "yaml",
  what: "YAML of 128 KB that costs its readers much, twenty kinds, as templates and as policies",
  peakLimit: 250,
  prepare: async (scene) => {
    const data_json = JSON.stringify({ name: "hostile", description: "" });
    return async () => {
      // In the short form one of four.
      const every = scene.scale.holdMs < 5000 ? 4 : 1;
      const texts = Object.values(hostileYaml).filter((_, index) => index % every === 0);
      await each(texts, 2, async (text) => {
        const body = form({ data_json }, { template_file: text });
        await scene.client.poke("PUT", `/flows/${scene.org}/template_file`, { body });
        const policy = form({ payload: JSON.stringify({ name: "hostile" }) }, { policy_file: text });
        await scene.client.poke("PUT", `/policies/${scene.org}`, { body: policy });
      });
    };
  },
};

/** Writes a template that expects so many attestations of so many artifacts. */
function templateOf(artifacts: number, attestations: number): string {
  const expected = numbers(attestations).map((index) => `{name: c${index}, type: generic}`);
  return [
    "version: 1",
    "trail:",
    "  artifacts:",
    ...numbers(artifacts).map((index) => `  - {name: a${index}, attestations: [${expected.join(",")}]}`),
    "",
  ].join("\n");
}

const template: Shape = {
  name: "template-biggest",
  long: true,
  what: "the biggest template there may be, and reports on trails that are judged by it",
  peakLimit: 250,
  prepare: async (scene) => {
    const data_json = JSON.stringify({ name: "big", description: "" });
    return async () => {
      // The most values a template may have, and what one attestation may stand for by aliases.
      for (const artifacts of [400, 200, 100, 50, 25]) {
        const body = form({ data_json }, { template_file: templateOf(artifacts, 10) });
        const { status } = await scene.client.ask("PUT", `/flows/${scene.org}/template_file`, { body });
        if (status >= 300) continue;
        scene.note(`${artifacts * 10} expected attestations`);
        break;
      }
      await each(numbers(scene.scale.attestations / 25), 16, (index) =>
        scene.attest("big", `trail-${index % 4}`, "generic", {
          attestation_name: `a${index % 25}.c${index % 10}`,
          is_compliant: true,
        }),
      );
    };
  },
};

/** Attestation types whose rules or schemas never end, or are expensive. */
const hostileTypes: { rules?: string[]; schema?: unknown; data: unknown }[] = [
  { rules: ["def f: f; f"], data: {} },
  { rules: ["[range(1e9)] | length > 0"], data: {} },
  { rules: ['reduce range(1e9) as $x (""; . + "xxxxxxxxxxxxxxxx") | true'], data: {} },
  { rules: ["last(repeat(1)) == 1"], data: {} },
  { rules: ['.text | test("^(a+)+$")'], data: { text: `${"a".repeat(40)}!` } },
  {
    schema: { type: "object", properties: { text: { type: "string", pattern: "^(a+)+$" } } },
    data: { text: `${"a".repeat(40)}!` },
  },
  {
    schema: { type: "object", properties: { items: { type: "array", uniqueItems: true } } },
    data: { items: numbers(20_000).map((index) => ({ index, more: [index] })) },
  },
];

async function postType(scene: Scene, name: string, rules?: string[], schema?: unknown): Promise<void> {
  const evaluator = rules === undefined ? { content_type: "default" } : { content_type: "jq", rules };
  const files: Record<string, string> = schema === undefined ? {} : { type_schema: JSON.stringify(schema) };
  const body = form({ data_json: JSON.stringify({ name, evaluator }) }, files);
  await scene.client.poke("POST", `/custom-attestation-types/${scene.org}`, { body });
}

const honestData = { coverage: 92, list: numbers(500) };

/** Attests compliant data, of a type whose rule takes a second, while the others use up the sandbox. */
async function postHonest(scene: Scene, index: number): Promise<void> {
  const data = {
    type_name: "honest",
    attestation_name: "coverage",
    attestation_data: honestData,
  };
  const trail = `honest-${index}`;
  const { status } = await scene.attest("types", trail, "custom", data);
  if (status === 503) return;
  if (status !== 201) return scene.wrong(`honest data were answered ${status}`);
  const { text } = await scene.client.ask("GET", `/attestations/${scene.org}/types/trail/${trail}/coverage`);
  const [shown] = JSON.parse(text) as { is_compliant: boolean }[];
  if (shown?.is_compliant !== true) scene.wrong("a verdict depended on load");
}

const types: Shape = {
  name: "custom-types",
  long: true,
  what: "rules and schemas of custom types that never end, many at once, and honest data among them",
  peakLimit: 400,
  prepare: async (scene) => {
    await scene.flow("types", "version: 1\n");
    // Takes a second or so.
    await postType(scene, "honest", [".coverage > 80", "[range(1500000)] | length == 1500000"]);
    return async () => {
      const hostile = async (kind: (typeof hostileTypes)[number], index: number): Promise<void> => {
        const name = `hostile-${index}`;
        await postType(scene, name, kind.rules, kind.schema);
        await each(numbers(scene.scale.readers), scene.scale.readers, (time) =>
          scene
            .attest("types", `hostile-${index}-${time}`, "custom", {
              type_name: name,
              attestation_name: "x",
              attestation_data: kind.data,
            })
            .catch(() => undefined),
        );
      };
      const some = scene.scale.holdMs < 5000 ? [0, 4] : hostileTypes.map((_, index) => index);
      await Promise.all([
        ...some.map((index) => hostile(hostileTypes[index]!, index)),
        each(numbers(scene.scale.readers), 1, (index) => postHonest(scene, index)),
      ]);
    };
  },
};

const uploads: Shape = {
  name: "uploads",
  what: "files of evidence of the greatest size, twenty at once",
  peakLimit: 250,
  prepare: async (scene) => {
    await scene.flow("uploads", "version: 1\n");
    const files = numbers(20).map((index) => Buffer.alloc(scene.scale.fileBytes, `evidence ${index} `));
    return async () => {
      await each(numbers(files.length), files.length, async (index) => {
        const data = { attestation_name: `file-${index}`, is_compliant: true };
        const answer = await scene
          .attest("uploads", "run", "generic", data, { attachment_file: files[index]! })
          .catch(() => undefined);
        if (answer?.status !== 201) return;
        const list = `/attestations/${scene.org}/uploads/trail/run/file-${index}`;
        const { text } = await scene.client.need("GET", list);
        const [shown] = JSON.parse(text) as { evidence_archive_fingerprint: string }[];
        if (shown?.evidence_archive_fingerprint !== digest(files[index]!.toString("latin1")))
          scene.wrong(`file ${index} is another one`);
      });
    };
  },
};

/** Shapes of what pipelines report. */
export const processShapes: Shape[] = [yaml, template, types, uploads];
