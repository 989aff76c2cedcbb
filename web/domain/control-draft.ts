/** What a control says, as it is written. */
export interface ControlDraft {
  name: string;
  description: string;
  /** One a line, the address last: `Standard https://…`. */
  links: string;
}

/** A control, as the API tells it. */
interface ControlLike {
  name: string;
  description: string | null;
  links: Readonly<Record<string, string>>;
}

/** What a new control begins with. */
export const controlStart: ControlDraft = { name: "", description: "", links: "" };

/** Reads a control as something to be written on. */
export function controlDraft({ name, description, links }: ControlLike): ControlDraft {
  const lines = Object.entries(links).map(([words, address]) => `${words} ${address}`);
  return { name, description: description ?? "", links: lines.join("\n") };
}

function linksIn(lines: string): Record<string, string> {
  const pairs = lines
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line): [string, string] => {
      const at = line.lastIndexOf(" ");
      return at === -1 ? [line, line] : [line.slice(0, at).trim(), line.slice(at + 1)];
    });
  return Object.fromEntries(pairs);
}

/** Gives what is written as operations take it. */
export function givenControl({ name, description, links }: ControlDraft) {
  return { name, description, links: linksIn(links) };
}

/** Writes what a control says as a text, by which two of them can be compared line by line. */
export function controlText(draft: ControlDraft): string {
  const { name, description, links } = givenControl(draft);
  const lines = Object.entries(links).map(([words, address]) => `link ${words} ${address}`);
  return [`name ${name}`, ...(description === "" ? [] : [`description ${description}`]), ...lines].join("\n");
}
