import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { useAction } from "../../api/action.ts";
import { ActionDialog } from "../../parts/ActionDialog.tsx";
import { ForeignLink } from "../../parts/ForeignLink.tsx";
import { Loaded } from "../../parts/Loaded.tsx";
import { Crumb, PageHead } from "../../shell/PageHead.tsx";
import { Button } from "../../ui/Button.tsx";
import { Quiet, Tag } from "../../ui/Layout.tsx";
import { Time } from "../../ui/Time.tsx";
import { Waiting } from "../../ui/Waiting.tsx";
import { ControlDialog } from "./ControlDialog.tsx";
import styles from "./Controls.module.css";
import { ControlVersions } from "./ControlVersions.tsx";
import { Coverage } from "./Coverage.tsx";
import { Decisions } from "./Decisions.tsx";
import { type Control as ControlAnswer, controlQuery } from "./queries.ts";

const route = getRouteApi("/$org/controls/$control");

const tabs = [
  [undefined, "Decisions"],
  ["coverage", "Coverage"],
  ["versions", "Versions"],
] as const;

function ArchiveDialog({ control, onClose }: { control: ControlAnswer; onClose: () => void }) {
  const { org } = route.useParams();
  const { identifier, archived } = control;
  const archive = useAction("POST /controls/{org}/{identifier}/archive", onClose);
  const unarchive = useAction("POST /controls/{org}/{identifier}/unarchive", onClose);
  const action = archived ? unarchive : archive;
  return (
    <ActionDialog
      title={archived ? `Bring ${identifier} back` : `Retire ${identifier}`}
      submit={archived ? "Bring it back" : "Retire it"}
      isDanger={!archived}
      action={action}
      input={{ params: { org, identifier } }}
      onClose={onClose}
    >
      <p>
        {archived
          ? "It stands among the others again. Its history says so."
          : "It leaves the list of controls. Decisions, history and the policies that ask for it stay, and it can come back."}
      </p>
    </ActionDialog>
  );
}

function Actions({ control }: { control: ControlAnswer }) {
  const { org } = route.useParams();
  const [asked, ask] = useState<"edit" | "archive">();
  const mayNotEdit = useRefusal(org, "PUT /controls/{org}/{identifier}");
  const mayNotArchive = useRefusal(org, "POST /controls/{org}/{identifier}/archive");
  const close = (): void => ask(undefined);
  return (
    <>
      <Button refused={mayNotArchive} onClick={() => ask("archive")}>
        {control.archived ? "Bring back" : "Retire"}
      </Button>
      <Button icon="edit" refused={mayNotEdit} onClick={() => ask("edit")}>
        Edit
      </Button>
      {asked === "edit" ? (
        <ControlDialog org={org} control={control} onSaved={close} onClose={close} />
      ) : null}
      {asked === "archive" ? <ArchiveDialog control={control} onClose={close} /> : null}
    </>
  );
}

function About({ control }: { control: ControlAnswer }) {
  const { org } = route.useParams();
  const { identifier, archived, version, created_at, created_by, policies_referencing, links, tags } =
    control;
  return (
    <>
      <code>{identifier}</code>
      {archived ? <Tag>archived</Tag> : null}
      <span>
        version {version}, <Time at={created_at} /> by {created_by}
      </span>
      {policies_referencing.length === 0 ? (
        <Quiet>no policy asks for it</Quiet>
      ) : (
        <span className={styles["links"]}>
          asked for by
          {policies_referencing.map((policy) => (
            <Link key={policy} to="/$org/policies/$policy" params={{ org, policy }}>
              {policy}
            </Link>
          ))}
        </span>
      )}
      {Object.entries(links).map(([words, address]) => (
        <ForeignLink key={words} address={address}>
          {words}
        </ForeignLink>
      ))}
      {Object.entries(tags).map(([key, value]) => (
        <Tag key={key}>{value === "" ? key : `${key}: ${value}`}</Tag>
      ))}
    </>
  );
}

/** A control: what was decided on it, which environments enforce it, and how it came to be. */
export function Control() {
  const { org, control: identifier } = route.useParams();
  const { tab } = route.useSearch();
  const query = useQuery(controlQuery(org, identifier));
  const { data } = query;
  return (
    <>
      <PageHead
        title={data?.name ?? identifier}
        crumbs={
          <Crumb>
            <Link to="/$org/controls" params={{ org }}>
              Controls
            </Link>
          </Crumb>
        }
        about={data === undefined ? <span>&nbsp;</span> : <About control={data} />}
        actions={data === undefined ? null : <Actions control={data} />}
        tabs={tabs.map(([part, words]) => (
          <Link
            key={words}
            to="/$org/controls/$control"
            params={{ org, control: identifier }}
            search={{ tab: part }}
            activeOptions={{ exact: true }}
            aria-current={part === tab ? "page" : undefined}
          >
            {words}
          </Link>
        ))}
      />
      <Loaded query={query} waiting={<Waiting size="medium" />}>
        {({ description }) => (
          <>
            {description === null || description === "" ? null : (
              <div>
                <p className={styles["description"]}>{description}</p>
              </div>
            )}
            {tab === "coverage" ? <Coverage /> : tab === "versions" ? <ControlVersions /> : <Decisions />}
          </>
        )}
      </Loaded>
    </>
  );
}
