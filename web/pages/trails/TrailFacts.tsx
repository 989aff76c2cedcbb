import type { ReactNode } from "react";

import { Commit } from "../../parts/Commit.tsx";
import { ForeignLink } from "../../parts/ForeignLink.tsx";
import { CodeBlock } from "../../ui/Copy.tsx";
import { Card, Facts, Fold, Row, Stack, Tag } from "../../ui/Layout.tsx";
import { Time } from "../../ui/Time.tsx";
import { isData } from "../../domain/attestation-data.ts";
import type { Trail } from "./queries.ts";

function linksOf({ origin_url, external_urls }: Trail): (readonly [string, ReactNode])[] {
  return [
    ["Origin", origin_url === null ? undefined : <ForeignLink key="origin" address={origin_url} />],
    ...Object.entries(external_urls ?? {}).map(
      ([name, { href }]) => [name, <ForeignLink key={name} address={href} />] as const,
    ),
  ];
}

/** What is known about a trail beside its evidence: the commit, where it came from, and what its pipeline added. */
export function TrailFacts({ trail }: { trail: Trail }) {
  const { git_commit_info: commit, user_data, template, flow } = trail;
  const tags = Object.entries(flow.tags);
  return (
    <Stack>
      <Card title="Commit">
        <Facts
          facts={
            commit === null
              ? [["Commit", "unknown"]]
              : [
                  ["Commit", <Commit key="sha" sha={commit.sha1} url={commit.url} />],
                  ["Message", commit.message],
                  ["Author", commit.author],
                  ["Branch", commit.branch],
                  ["Written", commit.timestamp === 0 ? undefined : <Time key="at" at={commit.timestamp} />],
                ]
          }
        />
      </Card>
      <Card title="About">
        <Facts
          facts={[
            ...linksOf(trail),
            [
              "Flow's tags",
              tags.length === 0 ? undefined : (
                <Row key="tags">
                  {tags.map(([key, value]) => (
                    <Tag key={key}>{value === "" ? key : `${key}: ${value}`}</Tag>
                  ))}
                </Row>
              ),
            ],
            ["Name", trail.name],
          ]}
        />
        {isData(user_data) && Object.keys(user_data).length > 0 ? (
          <Fold title="User data">
            <CodeBlock text={JSON.stringify(user_data, null, 2)} label="user data" />
          </Fold>
        ) : null}
        <Fold title="Template">
          <CodeBlock text={template.content} label="template" />
        </Fold>
      </Card>
    </Stack>
  );
}
