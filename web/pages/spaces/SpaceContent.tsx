import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { pathOfSpace } from "../../domain/space-tree.ts";
import { BelowLoaded, Loaded } from "../../parts/Loaded.tsx";
import { Button } from "../../ui/Button.tsx";
import { Quiet } from "../../ui/Layout.tsx";
import type { Thing } from "./moves.ts";
import { environmentsInQuery, flowsInQuery, type Space } from "./queries.ts";
import styles from "./Spaces.module.css";
import type { Asked } from "./Spaces.tsx";

const route = getRouteApi("/$org/spaces");

interface ThingLineProps {
  thing: Thing;
  spaces: readonly Space[];
  refused: string | undefined;
  onDrag: (thing: Thing | undefined) => void;
  onAsk: (asked: Asked) => void;
  children: ReactNode;
}

function ThingLine({ thing, spaces, refused, onDrag, onAsk, children }: ThingLineProps) {
  const place = pathOfSpace(spaces, thing.in);
  return (
    // Dragging is the short way; the button moves by keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <li
      className={styles["thing"]}
      data-drags={refused === undefined}
      draggable={refused === undefined}
      onDragStart={(event) => {
        event.dataTransfer.setData("text/plain", thing.name);
        onDrag(thing);
      }}
      onDragEnd={() => onDrag(undefined)}
    >
      <span>{children}</span>
      <Quiet isSmall>{place === "" ? "the root" : place}</Quiet>
      <Button
        refused={refused}
        aria-label={`Move ${thing.name}`}
        onClick={() => onAsk({ what: "move", thing })}
      >
        Move
      </Button>
    </li>
  );
}

interface PartProps {
  title: string;
  /** Leads to the list of all of them. */
  all: ReactNode;
  count: number;
  children: ReactNode;
}

function Part({ title, all, count, children }: PartProps) {
  return (
    <section aria-label={title}>
      <div className={styles["head"]}>
        <h2>{title}</h2>
        {all}
      </div>
      {count === 0 ? <Quiet>None in here.</Quiet> : <ul className={styles["things"]}>{children}</ul>}
    </section>
  );
}

interface ContentProps {
  spaces: readonly Space[];
  onDrag: (thing: Thing | undefined) => void;
  onAsk: (asked: Asked) => void;
}

function EnvironmentsIn({ spaces, onDrag, onAsk }: ContentProps) {
  const { org } = route.useParams();
  const { space } = route.useSearch();
  const query = useQuery(environmentsInQuery(org, space));
  const refused = useRefusal(org, "PATCH /environments/{org}/{env_name}");
  return (
    <Loaded query={query}>
      {(answer) => {
        const { environments, total_count: total } = Array.isArray(answer)
          ? { environments: answer, total_count: answer.length }
          : answer;
        return (
          <Part
            title="Environments"
            count={environments.length}
            all={
              <Link to="/$org/environments" params={{ org }} search={{ space_id: space }}>
                {total === 1 ? "1 environment" : `All ${total} environments`}
              </Link>
            }
          >
            {environments.map((environment) => (
              <ThingLine
                key={environment.name}
                thing={{
                  kind: "environment",
                  name: environment.name,
                  in: "space_id" in environment ? (environment.space_id ?? null) : null,
                }}
                spaces={spaces}
                refused={refused}
                onDrag={onDrag}
                onAsk={onAsk}
              >
                <Link to="/$org/environments/$env" params={{ org, env: environment.name }} draggable={false}>
                  {environment.name}
                </Link>
              </ThingLine>
            ))}
          </Part>
        );
      }}
    </Loaded>
  );
}

function FlowsIn({ spaces, onDrag, onAsk }: ContentProps) {
  const { org } = route.useParams();
  const { space } = route.useSearch();
  const query = useQuery(flowsInQuery(org, space));
  const refused = useRefusal(org, "PATCH /flows/{org}/{flow_name}");
  return (
    <Loaded query={query}>
      {(answer) => {
        const flows = Array.isArray(answer) ? answer : answer.data;
        const total = Array.isArray(answer) ? answer.length : answer.pagination.total;
        return (
          <Part
            title="Flows"
            count={flows.length}
            all={
              <Link to="/$org/flows" params={{ org }} search={{ space_id: space }}>
                {total === 1 ? "1 flow" : `All ${total} flows`}
              </Link>
            }
          >
            {flows.map(({ name, space_id }) => (
              <ThingLine
                key={name}
                thing={{ kind: "flow", name, in: space_id }}
                spaces={spaces}
                refused={refused}
                onDrag={onDrag}
                onAsk={onAsk}
              >
                <Link to="/$org/flows/$flow" params={{ org, flow: name }} draggable={false}>
                  {name}
                </Link>
              </ThingLine>
            ))}
          </Part>
        );
      }}
    </Loaded>
  );
}

/** What is in the chosen space and below it; everything without one. */
export function SpaceContent(props: ContentProps) {
  const { org } = route.useParams();
  const { space } = route.useSearch();
  const environments = useQuery(environmentsInQuery(org, space));
  const flows = useQuery(flowsInQuery(org, space));
  const isWaiting = environments.isPending || flows.isPending;
  const content = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState(0);
  useLayoutEffect(() => {
    const shown = content.current;
    if (isWaiting || shown === null) return undefined;
    const observer = new ResizeObserver(() => setHeight(shown.offsetHeight));
    observer.observe(shown);
    return () => observer.disconnect();
  }, [isWaiting]);
  // Where the page got shorter for a moment, what was just chosen in the tree would be scrolled away.
  const room = isWaiting ? { minHeight: height } : undefined;
  return (
    <div ref={content} className={styles["content"]} style={room}>
      <EnvironmentsIn {...props} />
      <BelowLoaded above={[environments]}>
        <FlowsIn {...props} />
      </BelowLoaded>
    </div>
  );
}
