import { Dialog } from "../ui/Dialog.tsx";
import { Facts } from "../ui/Layout.tsx";
import styles from "./KeysHelp.module.css";
import { KeySwitch } from "./KeySwitch.tsx";
import { navigation } from "./navigation.ts";

/** One key, or several after each other. */
function Keys({ keys }: { keys: string }) {
  return (
    <span className={styles["keys"]}>
      {keys.split(" ").map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  );
}

const everywhere = [
  ["Search", "/"],
  ["Search, also while typing", "Ctrl K"],
  ["What can be done here", "."],
  ["Copy the permanent address", "y"],
  ["Next and previous row", "j k"],
  ["Open the row", "Enter"],
  ["Why: of the row, or of the first one", "w"],
  ["Compare with the previous snapshot", "d"],
  ["Older and newer snapshot", "[ ]"],
  ["Close", "Esc"],
  ["These keys", "?"],
] as const;

const going = navigation.flatMap(({ entries }) =>
  entries.flatMap((entry) => ("key" in entry ? [[entry.words, `g ${entry.key}`] as const] : [])),
);

/** Lists what can be done by keyboard. */
export function KeysHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <Facts
        facts={[...everywhere, ...going].map(([words, keys]) => [words, <Keys key={keys} keys={keys} />])}
      />
      <KeySwitch />
    </Dialog>
  );
}
