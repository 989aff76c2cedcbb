import { CodeBlock } from "../ui/Copy.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Icon, type IconName } from "../ui/Icon.tsx";
import { Menu } from "../ui/Menu.tsx";
import { useState } from "react";

/** Something to download, by the address of its operation. */
export interface AuditDownload {
  words: string;
  href: string;
  icon?: IconName;
}

/** The command that checks a package after it was unpacked. */
const check =
  'tar xf package.tar && cd "$(tar tf package.tar | head -1 | cut -d/ -f1)" && sha256sum -c SHA256SUMS';

/** Everything an auditor takes away of a page: print, and packages with how they are checked. */
export function AuditMenu({ downloads }: { downloads: readonly AuditDownload[] }) {
  const [isChecking, setChecking] = useState(false);
  return (
    <>
      <Menu label="Audit" face="Audit" icon="audit">
        <button type="button" onClick={() => print()}>
          <Icon name="print" />
          Print this page
        </button>
        {downloads.map(({ words, href, icon = "download" }) => (
          <a key={href} href={href} download>
            <Icon name={icon} />
            {words}
          </a>
        ))}
        {downloads.length === 0 ? null : (
          <button type="button" onClick={() => setChecking(true)}>
            <Icon name="terminal" />
            How a package is checked
          </button>
        )}
      </Menu>
      {isChecking ? (
        <Dialog title="How a package is checked" onClose={() => setChecking(false)}>
          <p>
            A package ends with the digests of all files in it. One that has none was cut off on its way. Save
            it as package.tar, then:
          </p>
          <CodeBlock text={check} label="command that checks a package" />
        </Dialog>
      ) : null}
    </>
  );
}
