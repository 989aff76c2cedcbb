/** The service accounts of the company. */
export const serviceAccounts = [
  { name: "pipeline", privilege: "member", description: "Reports what is built" },
  { name: "cluster-reporter", privilege: "snapshotter", description: "Reports what runs" },
  { name: "dashboard", privilege: "reader", description: "Shows it on the wall" },
  { name: "explorer", privilege: "admin", description: "For trying things out" },
] as const;
