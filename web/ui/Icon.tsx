/** Outlines on a field of 16 by 16, drawn with round ends. */
const outlines = {
  home: "M2.5 7 8 2.5 13.5 7v6.5h-4v-4h-3v4h-4z",
  running: "M8 1.8 13.6 5v6L8 14.2 2.4 11V5zM8 8l5.4-3M8 8v6M8 8 2.6 5",
  changes: "M2 5h9.5M9 2.5 11.5 5 9 7.5M14 11H4.5M7 8.5 4.5 11 7 13.5",
  environments: "M2.5 3h11v3.8h-11zM2.5 9.2h11V13h-11zM5 4.9h.01M5 11.1h.01",
  compare: "M8 2v12M3 5h2.6M3 8h2.6M3 11h2.6M10.4 5H13M10.4 8H13M10.4 11H13",
  flows:
    "M4 4.2a1.7 1.7 0 1 0 0-.01M12 4.2a1.7 1.7 0 1 0 0-.01M8 13a1.7 1.7 0 1 0 0-.01M5.7 4.2h4.6M4 5.9c0 3 1.6 4.4 4 5.4 2.4-1 4-2.4 4-5.4",
  trails: "M3.5 13.5v-3a2.5 2.5 0 0 1 2.5-2.5h4a2.5 2.5 0 0 0 2.5-2.5v-3M10 5l2.5-2.7L15 5",
  attestations:
    "M8 1.8l1.7 1.3 2.1-.1.6 2.1 1.8 1.2-.8 2 .8 1.9-1.8 1.2-.6 2.1-2.1-.1L8 14.7l-1.7-1.3-2.1.1-.6-2.1-1.8-1.2.8-1.9-.8-2 1.8-1.2.6-2.1 2.1.1zM5.7 8.2l1.6 1.6 3-3.2",
  repos: "M4 2.2h8.5v11.6H4.8A1.3 1.3 0 0 1 3.5 12.5V2.7A.5.5 0 0 1 4 2.2M3.5 11.7h9",
  policies: "M8 1.8 13 3.6V8c0 3-2.1 5-5 6.2C5.1 13 3 11 3 8V3.6zM5.8 8l1.6 1.6L10.4 6.5",
  controls: "M2.5 4.5h5M11 4.5h2.5M9.2 3v3M2.5 11.5H5M8.5 11.5h5M6.7 10v3",
  types: "M2.5 2.5h4.6v4.6H2.5zM9 2.5h4.5v4.6H9zM2.5 9h4.6v4.5H2.5zM11.2 8.8v5M8.8 11.2h5",
  allow: "M8 14a6 6 0 1 0 0-12 6 6 0 0 0 0 12M5.5 8.2l1.8 1.7 3.3-3.6",
  actions: "M8.8 1.8 3.5 9H8l-.8 5.2L12.5 7H8z",
  integrations: "M6 2v3M10 2v3M4 5h8v2.5a4 4 0 0 1-8 0zM8 11.5V14",
  spaces: "M2.5 4h4l1.2 1.5h5.8V13h-11z",
  settings:
    "M8 10.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4M8 1.8v1.7M8 12.5v1.7M14.2 8h-1.7M3.5 8H1.8M12.4 3.6l-1.2 1.2M4.8 11.2l-1.2 1.2M12.4 12.4l-1.2-1.2M4.8 4.8 3.6 3.6",
  audit: "M4 1.8h6L13 5v9.2H4zM9.8 2v3.2H13M6 8h5M6 10.8h5",
  search: "M7 11.8a4.8 4.8 0 1 0 0-9.6 4.8 4.8 0 0 0 0 9.6M10.5 10.5 14 14",
  user: "M8 8a2.9 2.9 0 1 0 0-5.8A2.9 2.9 0 0 0 8 8M2.7 14a5.4 5.4 0 0 1 10.6 0",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  close: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  check: "M3 8.5 6.5 12 13 4.5",
  cross: "M4 4l8 8M12 4l-8 8",
  copy: "M5.5 5.5V2.8h7.7v7.7h-2.7M2.8 5.5h7.7v7.7H2.8z",
  chevron: "M6 3.5 10.5 8 6 12.5",
  down: "M3.5 6 8 10.5 12.5 6",
  up: "M3.5 10 8 5.5 12.5 10",
  updown: "M5 6l3-3 3 3M5 10l3 3 3-3",
  left: "M10 3.5 5.5 8l4.5 4.5",
  outside: "M6.5 3H3v10h10V9.5M9 2.8h4.2V7M13 3 7.5 8.5",
  commit: "M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6M1.5 8h3.7M10.8 8h3.7",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M8 4.7V8l2.3 1.6",
  silence: "M2 8h1.5M5 5.5v5M8 8h.01M11 8h.01M14 8h.01M2 2l12 12",
  warning: "M8 2.2 14.5 13.5h-13zM8 6.5v3.2M8 11.6h.01",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M8 7.3v3.7M8 5h.01",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  plus: "M8 3v10M3 8h10",
  trash: "M2.5 4.2h11M6 4V2.5h4V4M4 4.2l.7 9.3h6.6l.7-9.3M6.7 6.8v4M9.3 6.8v4",
  edit: "M10.7 2.8l2.5 2.5L5.5 13H3v-2.5z",
  download: "M8 2v8M4.7 7 8 10.3 11.3 7M2.5 13.5h11",
  print: "M4.5 5.5V2h7v3.5M4.5 11H2.5V5.5h11V11h-2M4.5 9h7v5h-7z",
  link: "M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.3-2.3a2.6 2.6 0 0 0-3.7-3.7L8 4.3M9.2 6.8a2.6 2.6 0 0 0-3.7 0L3.2 9.1a2.6 2.6 0 0 0 3.7 3.7L8 11.7",
  sun: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6M8 1.5V3M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M12.6 3.4l-1.1 1.1M4.5 11.5l-1.1 1.1",
  moon: "M13.3 9.5A5.8 5.8 0 1 1 6.5 2.7a4.6 4.6 0 0 0 6.8 6.8",
  signout: "M6.5 2.5h-4v11h4M10 5l3.2 3L10 11M13 8H6",
  artifact: "M8 1.8 13.5 4.5v7L8 14.2 2.5 11.5v-7zM2.7 4.7 8 7.3l5.3-2.6M8 7.3V14",
  ticket: "M2 5h12v2a1.2 1.2 0 0 0 0 2.3V11.5H2V9.3A1.2 1.2 0 0 0 2 7zM9.5 5v6.5",
  filter: "M2.5 3.5h11L9.5 8.5V13l-3-1.5v-3z",
  json: "M6 2.5H5A1.5 1.5 0 0 0 3.5 4v2.5L2 8l1.5 1.5V12A1.5 1.5 0 0 0 5 13.5h1M10 2.5h1A1.5 1.5 0 0 1 12.5 4v2.5L14 8l-1.5 1.5V12a1.5 1.5 0 0 1-1.5 1.5h-1",
  terminal: "M2 3h12v10H2zM4.5 6 6.7 8l-2.2 2M8 10.2h3.5",
  live: "M8 9.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3M4.7 11.3a4.6 4.6 0 0 1 0-6.6M11.3 4.7a4.6 4.6 0 0 1 0 6.6M2.6 13.4a7.6 7.6 0 0 1 0-10.8M13.4 2.6a7.6 7.6 0 0 1 0 10.8",
} as const;

export type IconName = keyof typeof outlines;

/** Draws a sign beside words that say the same, so that it is nothing to those who do not see it. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={outlines[name]} />
    </svg>
  );
}
