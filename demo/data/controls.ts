/** Something the company has promised to do, and shows that it does. */
export interface Control {
  identifier: string;
  name: string;
  description: string;
  links: Record<string, string>;
}

/** The company's controls. */
export const controls: readonly Control[] = [
  {
    identifier: "HL-CHG-1",
    name: "Changes are reviewed",
    description: "Whoever writes a change is not alone in letting it pass",
    links: { handbook: "https://handbook.harborlight.example/changes" },
  },
  {
    identifier: "HL-REL-2",
    name: "Releases are approved",
    description: "Somebody of Operations agrees before a release goes live",
    links: { handbook: "https://handbook.harborlight.example/releases" },
  },
  {
    identifier: "HL-VUL-3",
    name: "Known vulnerabilities are assessed",
    description: "What scanners find is mended, or somebody has written down why not",
    links: {},
  },
];

/** The control that releases are approved by. */
export const releaseControl = "HL-REL-2";
