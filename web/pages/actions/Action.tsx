import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { useAction } from "../../api/action.ts";
import { wordsOfTrigger } from "../../domain/actions.ts";
import { ActionDialog } from "../../parts/ActionDialog.tsx";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { Crumb, PageHead } from "../../shell/PageHead.tsx";
import { Button } from "../../ui/Button.tsx";
import { Card, Facts, Quiet, Split, Tag } from "../../ui/Layout.tsx";
import { Time } from "../../ui/Time.tsx";
import { Waiting } from "../../ui/Waiting.tsx";
import styles from "./Actions.module.css";
import { ActionState, targetWords } from "./ActionState.tsx";
import { ChangeAction } from "./ChangeAction.tsx";
import { Deliveries } from "./Deliveries.tsx";
import { type Action as ActionAnswer, actionQuery } from "./queries.ts";

const route = getRouteApi("/$org/actions/$number");

function Watched({ action: { environments, flows } }: { action: ActionAnswer }) {
  const { org } = route.useParams();
  return (
    <span className={styles["list"]}>
      {environments?.map((env) => (
        <Link key={env} to="/$org/environments/$env" params={{ org, env }}>
          <Tag>{env}</Tag>
        </Link>
      ))}
      {flows?.map((flow) => (
        <Link key={flow} to="/$org/flows/$flow" params={{ org, flow }}>
          <Tag>{flow}</Tag>
        </Link>
      ))}
    </span>
  );
}

type Target = ActionAnswer["targets"][number];

function TargetLine({ target }: { target: Target }) {
  return (
    <span>
      {targetWords[target.type]}
      {target.type === "EMAIL" ? `: ${target.emails.join(", ")}` : ""}
      {target.type === "SLACK" && target.context !== null ? `: ${target.context.channel_name}` : ""}{" "}
      <Quiet isSmall>
        {target.last_success_at === null ? (
          "never reached"
        ) : (
          <>
            reached <Time at={target.last_success_at} />
          </>
        )}
        {target.last_failure_at === null ? null : (
          <>
            , failed <Time at={target.last_failure_at} />
          </>
        )}
      </Quiet>
    </span>
  );
}

function About({ action }: { action: ActionAnswer }) {
  const { triggers, targets, created_by, created_at, last_modified_at } = action;
  return (
    <Card title="What it does">
      <Facts
        facts={[
          ["When", triggers.map(wordsOfTrigger).join(", ")],
          ["In", <Watched key="in" action={action} />],
          [
            "Tells",
            <span key="tells" className={styles["lines"]}>
              {targets.map((target, place) => (
                // Targets are known by their place alone.
                // oxlint-disable-next-line react/no-array-index-key
                <TargetLine key={place} target={target} />
              ))}
            </span>,
          ],
          ["Made by", created_by],
          ["Made", <Time key="made" at={created_at} />],
          ["Changed", <Time key="changed" at={last_modified_at} />],
        ]}
      />
    </Card>
  );
}

function RemoveAction({ action, onClose }: { action: ActionAnswer; onClose: () => void }) {
  const { org } = route.useParams();
  const navigate = route.useNavigate();
  const remove = useAction("DELETE /actions/{org}/{action_number}", () =>
    navigate({ to: "/$org/actions", params: { org } }),
  );
  return (
    <ActionDialog
      title={`Delete ${action.name}?`}
      submit="Delete the action"
      isDanger
      action={remove}
      input={{ params: { org, action_number: action.number } }}
      onClose={onClose}
    >
      <p>Nobody is told any more, and what waits to be sent is cancelled.</p>
    </ActionDialog>
  );
}

function Head({ action }: { action: ActionAnswer | undefined }) {
  const { org, number } = route.useParams();
  const { edit } = route.useSearch();
  const [isRemoving, setRemoving] = useState(false);
  const navigate = route.useNavigate();
  const refused = useRefusal(org, "DELETE /actions/{org}/{action_number}");
  const notYet = action === undefined ? "It has not come yet" : refused;
  return (
    <>
      <PageHead
        title={action?.name ?? `Action ${number}`}
        crumbs={
          <Crumb>
            <Link to="/$org/actions" params={{ org }}>
              Actions
            </Link>
          </Crumb>
        }
        verdict={action === undefined ? null : <ActionState action={action} />}
        actions={
          edit === true ? undefined : (
            <>
              <Button
                icon="edit"
                refused={notYet}
                onClick={() => void navigate({ search: { edit: true as const } })}
              >
                Change
              </Button>
              <Button look="danger" icon="trash" refused={notYet} onClick={() => setRemoving(true)}>
                Delete
              </Button>
            </>
          )
        }
      />
      {isRemoving && action !== undefined ? (
        <RemoveAction action={action} onClose={() => setRemoving(false)} />
      ) : null}
    </>
  );
}

/** An action: what it does, what it sent, and what came of that. */
export function Action() {
  const { org, number } = route.useParams();
  const { edit } = route.useSearch();
  const query = useQuery(actionQuery(org, number));
  const { data: action, error } = query;
  return (
    <>
      <Head action={action} />
      {error !== null && action === undefined ? (
        <FailedToRead error={error} retry={() => void query.refetch()} />
      ) : edit === true ? (
        action === undefined ? null : (
          <ChangeAction action={action} />
        )
      ) : (
        <Split>
          <Deliveries />
          <div className={styles["about"]}>
            {action === undefined ? (
              <Card title="What it does">
                <Waiting size="medium" />
              </Card>
            ) : (
              <About action={action} />
            )}
          </div>
        </Split>
      )}
    </>
  );
}
