import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { useRefusal } from "../../api/account.ts";
import { useAction } from "../../api/action.ts";
import { duration } from "../../domain/times.ts";
import { wrongField } from "../../parts/ActionDialog.tsx";
import { Loaded } from "../../parts/Loaded.tsx";
import { TagsCard } from "../../parts/TagsCard.tsx";
import { WriteForm } from "../../parts/WriteForm.tsx";
import { Field } from "../../ui/Field.tsx";
import { Card, Stack } from "../../ui/Layout.tsx";
import { useWritten } from "../../ui/useWritten.ts";
import { ArchivePart, RenamePart } from "./DangerParts.tsx";
import { EnvironmentPage } from "./EnvironmentHead.tsx";
import styles from "./Environments.module.css";
import { MembersPart, SpacePart } from "./PlaceParts.tsx";
import { PoliciesPart } from "./PoliciesPart.tsx";
import { type Environment, environmentQuery, silenceQuery } from "./queries.ts";

const route = getRouteApi("/$org/environments/$env/settings");

function Description({ environment }: { environment: Environment }) {
  const { org, env } = route.useParams();
  const [text, write] = useWritten(environment.description);
  const action = useAction("PATCH /environments/{org}/{env_name}");
  const refused = useRefusal(org, "PATCH /environments/{org}/{env_name}");
  const isSame = text === environment.description;
  return (
    <Card title="Description">
      <WriteForm
        action={action}
        input={{ params: { org, env_name: env }, body: { description: text } }}
        submit="Save the description"
        refused={refused ?? (isSame ? "Nothing was changed" : undefined)}
        isChanged={() => !isSame}
      >
        <Field label="What this environment is for" wrong={wrongField(action.error, "description")}>
          {(tie) => (
            <textarea
              {...tie}
              readOnly={refused !== undefined}
              value={text}
              onChange={(event) => {
                action.reset();
                write(event.target.value);
              }}
            />
          )}
        </Field>
      </WriteForm>
    </Card>
  );
}

const minute = 60;
const inMinutes = (seconds: number | null): string => (seconds === null ? "" : String(seconds / minute));

/** @param limit what is set, in seconds; null while it is learned. */
function SilenceForm({ limit }: { limit: number | null }) {
  const { org, env } = route.useParams();
  const [minutes, write] = useWritten(inMinutes(limit));
  const limit_seconds = minutes === "" ? null : Math.round(Number(minutes) * minute);
  const action = useAction("PUT /environments/{org}/{env_name}/silence", (_answer, { body: sent }) => {
    // What is kept may be written otherwise: 05 as 5. What was written meanwhile stays.
    if (sent.limit_seconds === limit_seconds) write(inMinutes(limit_seconds));
  });
  const refused = useRefusal(org, "PUT /environments/{org}/{env_name}/silence");
  return (
    <WriteForm
      action={action}
      input={{ params: { org, env_name: env }, body: { limit_seconds } }}
      submit="Save the limit"
      refused={refused}
      isChanged={() => minutes !== inMinutes(limit)}
    >
      <Field
        label="Longest silence, in minutes"
        hint="Empty: it is learned from the reports."
        wrong={wrongField(action.error, "limit_seconds")}
      >
        {(tie) => (
          <input
            {...tie}
            type="number"
            min="1"
            step="any"
            readOnly={refused !== undefined}
            value={minutes}
            onChange={(event) => {
              action.reset();
              write(event.target.value);
            }}
          />
        )}
      </Field>
    </WriteForm>
  );
}

function Silence() {
  const { org, env } = route.useParams();
  const query = useQuery(silenceQuery(org, env));
  return (
    <Card title="Silence">
      <Loaded query={query}>
        {({ usual_interval_seconds: usual, limit_seconds: limit, limit_source: source }) => (
          <>
            <p className={styles["lead"]}>
              {usual === null
                ? "Too few reports came to know its rhythm."
                : `It is reported on every ${duration(Math.max(1, usual))}.`}{" "}
              {limit === null
                ? "No silence is too long yet."
                : `A silence of more than ${duration(limit)} is told${source === "set" ? ", as was set here" : ", as was learned"}.`}
            </p>
            <SilenceForm limit={source === "set" ? limit : null} />
          </>
        )}
      </Loaded>
    </Card>
  );
}

/** What can be set about an environment. */
export function Settings() {
  const { org, env } = route.useParams();
  const query = useQuery(environmentQuery(org, env));
  return (
    <EnvironmentPage org={org} env={env} current="/$org/environments/$env/settings">
      <Loaded query={query}>
        {(environment) => (
          <div className={styles["narrow"]}>
            <Stack>
              <Description environment={environment} />
              {environment.type === "logical" ? (
                <MembersPart org={org} env={env} members={environment.included_environments ?? []} />
              ) : null}
              <PoliciesPart org={org} env={env} policies={environment.policies ?? []} />
              {environment.type === "logical" ? null : <Silence />}
              <TagsCard org={org} kind="environment" name={env} tags={environment.tags} />
              <SpacePart org={org} env={env} space={environment.space_id ?? null} />
              <RenamePart org={org} env={env} />
              <ArchivePart org={org} env={env} isArchived={typeof environment.archived_at === "number"} />
            </Stack>
          </div>
        )}
      </Loaded>
    </EnvironmentPage>
  );
}
