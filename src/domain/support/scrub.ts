import { percentDecoded } from "../../lib/url.ts";

/** What stands where something was taken out. */
export const removed = "[removed]";

/** A text that must not be seen, and what is written in its place. */
export interface KnownText {
  text: string;
  instead: string;
}

/** Words in the names of what holds a secret. */
const secretWords =
  "pass(?:word|wd|phrase|code)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|key[_-]?hash|credentials?|authori[sz]ation|cookie|signature|identity|assertion|session|verifier|nonce";
const secretName = new RegExp(`(?:^|[^a-z])(?:${secretWords})(?:$|[^a-z])|(?:${secretWords})$`, "i");

/** Says whether what goes by this name may be a secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2"));
}

const pem = /-----BEGIN [A-Z ]*-----[\s\S]*?(?:-----END [A-Z ]*-----|$)/g;
const scheme = /\b(?:bearer|basic|negotiate)\s+[^\s"',;]+/gi;
const url = /\b([a-z][a-z0-9+.-]*):\/\/([^\s"'<>\\`]*)/gi;
const cookie = /\b(?:__host-|__secure-)?waybill-[a-z]+=[^\s"',;]+/gi;
const ownKey = /\bwb_[\w-]{8,}/g;
const identityOfAge = /\bage-secret-key-[0-9a-z]+/gi;
const member = new RegExp(
  `(\\\\?["']?[\\w.-]{0,40}(?:${secretWords})[\\w.-]{0,40}\\\\?["']?\\s*[:=]\\s*)(\\[[^\\]\\s]*\\]|\\\\?"(?:[^"\\\\]|\\\\.)*"?|'[^']*'?|[^\\s,;&}\\]]+)`,
  "gi",
);
const variable = /\b([A-Z][A-Z0-9_]{3,60}=)\S+/g;
const word = /[\w+/=~-]{8,}/g;
const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{8}(?:[\da-f]{4})?$/i;

/** Leaves of a URL who is asked, and nothing of what for or as whom. */
function shownUrl(whole: string, kind: string, rest: string): string {
  if (/^(?:file|node)$/i.test(kind)) return whole;
  const [authority = ""] = rest.split(/[/?#]/, 1);
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  const isPlain = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i.test(host);
  return `${kind}://${isPlain ? host : removed}${authority.length < rest.length ? `/${removed}` : ""}`;
}

/** Says whether a word looks as if it had been made by chance: letters and digits in no order that a name has. */
function isRandom(text: string): boolean {
  const hasBoth = /[a-z]/.test(text) && /[A-Z]/.test(text);
  if (text.length >= 20 && hasBoth && (/\d/.test(text) || (text.match(/[a-z][A-Z]/g) ?? []).length >= 4))
    return true;
  return text.split(/[_-]/).some((part) => part.length >= 8 && /\d/.test(part) && /[a-z]/i.test(part));
}

/** Takes out words that look random, but for ids, which are not secret. */
function withoutRandom(text: string): string {
  return text.replaceAll(word, (found) =>
    uuid.test(found) || !found.split(/[/=~]/).some(isRandom) ? found : removed,
  );
}

/** Takes out texts that are known, the longest first, lest a part of one stays. */
export function withoutKnown(text: string, known: readonly KnownText[]): string {
  let left = text;
  for (const { text: secret, instead } of known) left = left.replaceAll(secret, () => instead);
  return left;
}

/**
 * Takes out of a text for people whatever may be a secret: what is known, keys in our forms, what follows a word such as `password=`, all of
 * URLs but the host, and words that look random.
 * @param known sorted by `knownTexts`.
 */
export function scrub(text: string, known: readonly KnownText[]): string {
  const left = withoutKnown(text, known)
    .replaceAll(pem, removed)
    .replaceAll(url, shownUrl)
    .replaceAll(scheme, removed)
    .replaceAll(cookie, removed)
    .replaceAll(ownKey, removed)
    .replaceAll(identityOfAge, removed)
    .replaceAll(member, `$1${removed}`)
    .replaceAll(variable, `$1${removed}`);
  return withoutRandom(left);
}

/** Scrubs all texts of a value that becomes JSON, the names of members included. */
export function scrubValue(value: unknown, known: readonly KnownText[]): unknown {
  if (typeof value === "string") return scrub(value, known);
  if (Array.isArray(value)) return value.map((each) => scrubValue(each, known));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [scrub(name, known), scrubValue(each, known)]),
  );
}

/** Shorter texts are part of ordinary words, and would be taken out of these. */
const shortestKnown = 5;

/** Lists the parts of a setting that may be shown without the rest: of a URL user, password, parameters; items of a list. */
function partsOf(value: string): string[] {
  const found = /^[a-z][a-z0-9+.-]*:\/\/(?:([^@/?#]*)@)?[^/?#]*([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/i.exec(
    value,
  );
  if (found === null) return value.split(/[\s,;=]+/);
  const [, user = "", path = "", query = "", fragment = ""] = found;
  const [name = "", ...password] = user.split(":");
  const values = query.split("&").map((pair) => pair.slice(pair.indexOf("=") + 1));
  return [name, password.join(":"), user, path.replace(/^\/+/, ""), ...values, fragment].flatMap((part) => [
    part,
    percentDecoded(part),
  ]);
}

/** Lists what must not be seen of settings: each whole value, its parts, and both as they stand inside of JSON. */
export function knownTexts(settings: Readonly<Record<string, string>>): KnownText[] {
  const all = new Map<string, string>();
  for (const [name, value] of Object.entries(settings))
    for (const part of [value, ...value.split(/\r?\n/), ...partsOf(value)])
      for (const form of [part.trim(), JSON.stringify(part.trim()).slice(1, -1)])
        if (form.length >= shortestKnown && !all.has(form)) all.set(form, `[${name}]`);
  return [...all]
    .map(([text, instead]) => ({ text, instead }))
    .sort((one, other) => other.text.length - one.text.length);
}
