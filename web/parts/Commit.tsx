import { short } from "../domain/links.ts";
import { Copy } from "../ui/Copy.tsx";
import { Quiet } from "../ui/Layout.tsx";
import styles from "./Commit.module.css";
import { ForeignLink } from "./ForeignLink.tsx";

/** Shows the beginning of a commit, and leads to where its code is. */
export function Commit({ sha, url }: { sha: string | null | undefined; url?: string | null | undefined }) {
  if (sha === null || sha === undefined || sha === "") return <Quiet>unknown</Quiet>;
  return (
    <span className={styles["commit"]}>
      <Copy text={sha} shown={short(sha)} what="commit" />
      {url === null || url === undefined ? null : <ForeignLink address={url}>code</ForeignLink>}
    </span>
  );
}
