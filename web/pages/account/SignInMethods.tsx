import { useQuery } from "@tanstack/react-query";

import { signInMethodsQuery, useProviderOnly } from "../../api/account.ts";
import type { AnswerOf } from "../../api/contract.ts";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { Card, Quiet, Wrapping } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import { identitiesQuery } from "./queries.ts";

type Identity = AnswerOf<"GET /user/identities">[number];

const columns: Column<Identity>[] = [
  {
    key: "provider",
    head: "Provider",
    cell: ({ issuer, subject }) => (
      <>
        <Wrapping>{URL.canParse(issuer) ? new URL(issuer).host : issuer}</Wrapping>
        <div>
          <Quiet isSmall>
            <Wrapping>as {subject}</Wrapping>
          </Quiet>
        </div>
      </>
    ),
  },
  {
    key: "last",
    head: "Last signed in",
    cell: ({ last_signed_in_at }) =>
      last_signed_in_at === null ? <Quiet>never</Quiet> : <Time at={last_signed_in_at} />,
  },
  { key: "since", head: "Linked", isOptional: true, cell: ({ created_at }) => <Time at={created_at} /> },
];

/** Who one is at the sign-in provider; nothing where no provider is set and nobody is linked. */
export function SignInMethods() {
  const query = useQuery(identitiesQuery);
  const methods = useQuery(signInMethodsQuery);
  const isProviderOnly = useProviderOnly() === true;
  const provider = methods.data?.methods.find(({ kind }) => kind === "oidc");
  if (provider === undefined && (query.data?.length ?? 0) === 0) return null;
  return (
    <Card title="How you sign in">
      {query.error !== null && query.data === undefined ? (
        <FailedToRead error={query.error} retry={() => void query.refetch()} />
      ) : query.data?.length === 0 ? (
        <p>
          <Quiet>
            Nobody at {provider?.display_name} is linked with you. Whoever runs this installation can do that
            with <code>waybill admin link-identity</code>. Your API keys work either way
            {isProviderOnly ? ", though not for these pages" : ""}.
          </Quiet>
        </p>
      ) : (
        <Table
          label="Sign-in methods"
          columns={columns}
          rows={query.data}
          rowKey={({ issuer, subject }) => `${issuer} ${subject}`}
          expectedRows={1}
        />
      )}
    </Card>
  );
}
