import { short } from "../domain/links.ts";
import { Copy } from "../ui/Copy.tsx";
import { Quiet } from "../ui/Layout.tsx";

/** Shows the beginning of a fingerprint, which a click copies whole. */
export function Fingerprint({ value }: { value: string }) {
  return value === "" ? (
    <Quiet>unknown</Quiet>
  ) : (
    <Copy text={value} shown={short(value)} what="fingerprint" />
  );
}
