import { textOfPdf } from "./pdf.ts";

/** What every answer is read for: addresses of the server itself. */
function addressesInText(text: string, own: string): string[] {
  return text
    .split(own)
    .slice(1)
    .map((rest) => own + /^[^\s"'<>\\,]*/.exec(rest)![0]);
}

function addressesInJson(value: unknown, own: string): string[] {
  if (typeof value === "string") return value.startsWith(own) ? [value] : addressesInText(value, own);
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap((one) => addressesInJson(one, own));
}

/** Finds the addresses of a server in one of its answers: in JSON, CSV, archives and documents. @param own how they begin. */
export async function linksIn(answer: Response, own: string): Promise<string[]> {
  const type = answer.headers.get("content-type") ?? "";
  if (type.startsWith("application/json")) return addressesInJson(await answer.json(), own);
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (type.startsWith("application/pdf")) {
    // A line that is too long goes on in the next one, without a blank; so does what follows an address.
    const text = textOfPdf(bytes).replaceAll("\n", "");
    return addressesInText(text, own).map((address) => address.replace(/(?<=\/audit_package).*/, ""));
  }
  return addressesInText(bytes.toString("utf8"), own);
}
