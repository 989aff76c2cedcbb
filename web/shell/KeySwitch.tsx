import { Check } from "../ui/Field.tsx";
import { switchSingleKeys, useSingleKeys } from "./single-keys.ts";

/** Switches keys off that do something by themselves, for those whom they get in the way. */
export function KeySwitch() {
  const isOn = useSingleKeys();
  return (
    <Check checked={isOn} onChange={(event) => switchSingleKeys(event.target.checked)}>
      Single keys do something
    </Check>
  );
}
