import { Link } from "@tanstack/react-router";

import { useRefusal } from "../api/account.ts";
import { NewLink } from "./NewThing.tsx";

/** Pages of an organization that make something. */
const makers = {
  environments: {
    words: "New environment",
    to: "/$org/environments/-/new",
    operation: "PUT /environments/{org}",
  },
  flows: { words: "New flow", to: "/$org/flows/-/new", operation: "PUT /flows/{org}/template_file" },
  policies: { words: "New policy", to: "/$org/policies/-/new", operation: "PUT /policies/{org}" },
  types: {
    words: "New type",
    to: "/$org/attestation-types/-/new",
    operation: "POST /custom-attestation-types/{org}",
  },
} as const;

/** Leads to the page that makes one of them, for those who may. */
export function MakeLink({ org, page }: { org: string; page: keyof typeof makers }) {
  const { words, to, operation } = makers[page];
  const refused = useRefusal(org, operation);
  return (
    <NewLink refused={refused} words={words}>
      {(looks) => <Link to={to} params={{ org }} {...looks} />}
    </NewLink>
  );
}
