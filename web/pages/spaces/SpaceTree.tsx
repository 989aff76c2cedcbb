import { getRouteApi, Link } from "@tanstack/react-router";
import { type CSSProperties, type ReactNode, useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { moveRefusal, treeLines } from "../../domain/space-tree.ts";
import { Button } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Menu } from "../../ui/Menu.tsx";
import type { Thing } from "./moves.ts";
import type { Space } from "./queries.ts";
import type { Asked } from "./Spaces.tsx";
import styles from "./Spaces.module.css";

const route = getRouteApi("/$org/spaces");

/** A length that CSS reads. */
type WithDepth = CSSProperties & Record<"--depth", number>;

interface LineProps {
  /** Undefined for the root. */
  space: Space | undefined;
  depth: number;
  dragged: Thing | undefined;
  canDrop: boolean;
  onDrag: ((thing: Thing | undefined) => void) | undefined;
  onDrop: (to: string | null) => void;
  children?: ReactNode;
}

/** A line of the tree: leads to what is in it, can be dragged, and takes what is dropped on it. */
function Line({ space, depth, dragged, canDrop, onDrag, onDrop, children }: LineProps) {
  const { org } = route.useParams();
  const { space: current } = route.useSearch();
  const [isOver, setOver] = useState(false);
  const style: WithDepth = { "--depth": depth };
  const isMoving = dragged?.kind === "space" && dragged.id === space?.id;
  return (
    // Dragging is the short way; the menu moves by keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <li
      className={styles["line"]}
      style={style}
      data-current={current === space?.id}
      data-over={isOver && canDrop}
      data-moving={isMoving}
      draggable={onDrag !== undefined}
      onDragStart={(event) => {
        if (space === undefined) return;
        event.dataTransfer.setData("text/plain", space.name);
        onDrag?.({ kind: "space", id: space.id, name: space.name, in: space.parent_id });
      }}
      onDragEnd={() => onDrag?.(undefined)}
      onDragOver={(event) => {
        if (!canDrop) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        if (canDrop) onDrop(space?.id ?? null);
      }}
    >
      <Link
        to="/$org/spaces"
        params={{ org }}
        search={{ space: space?.id }}
        draggable={false}
        resetScroll={false}
        activeOptions={{ exact: true, explicitUndefined: true }}
      >
        <Icon name={space === undefined ? "home" : "spaces"} />
        {space?.name ?? "Everything"}
      </Link>
      {children}
    </li>
  );
}

function LineMenu({ space, onAsk }: { space: Space; onAsk: (asked: Asked) => void }) {
  const { org } = route.useParams();
  const refused = useRefusal(org, "PATCH /spaces/{org}/{space_id}");
  const thing: Thing = { kind: "space", id: space.id, name: space.name, in: space.parent_id };
  return (
    <Menu label={`What to do with ${space.name}`} icon="more" look="quiet">
      <Button
        look="quiet"
        icon="plus"
        refused={refused}
        onClick={() => onAsk({ what: "new", parent: space })}
      >
        New space in it
      </Button>
      <Button look="quiet" icon="edit" refused={refused} onClick={() => onAsk({ what: "rename", space })}>
        Rename
      </Button>
      <Button look="quiet" icon="changes" refused={refused} onClick={() => onAsk({ what: "move", thing })}>
        Move
      </Button>
      <Button look="quiet" icon="trash" refused={refused} onClick={() => onAsk({ what: "delete", space })}>
        Delete
      </Button>
    </Menu>
  );
}

interface SpaceTreeProps {
  spaces: readonly Space[];
  dragged: Thing | undefined;
  onDrag: (thing: Thing | undefined) => void;
  onDrop: (thing: Thing, to: string | null) => void;
  onAsk: (asked: Asked) => void;
}

/** The tree of spaces. What is in which can be changed by dragging, or by each one's menu. */
export function SpaceTree({ spaces, dragged, onDrag, onDrop, onAsk }: SpaceTreeProps) {
  const { org } = route.useParams();
  const refused = useRefusal(org, "PATCH /spaces/{org}/{space_id}");
  const canDrop = (to: string | null): boolean => {
    if (dragged === undefined) return false;
    return dragged.kind === "space" ? moveRefusal(spaces, dragged.id, to) === undefined : dragged.in !== to;
  };
  const drop = (to: string | null): void => {
    if (dragged !== undefined) onDrop(dragged, to);
    onDrag(undefined);
  };
  const shared = { dragged, onDrop: drop };
  return (
    <nav aria-label="Spaces">
      <ul className={styles["tree"]}>
        <Line {...shared} space={undefined} depth={0} canDrop={canDrop(null)} onDrag={undefined} />
        {treeLines(spaces).map(({ space, depth }) => (
          <Line
            {...shared}
            key={space.id}
            space={space}
            depth={depth + 1}
            canDrop={canDrop(space.id)}
            onDrag={refused === undefined ? onDrag : undefined}
          >
            <LineMenu space={space} onAsk={onAsk} />
          </Line>
        ))}
      </ul>
    </nav>
  );
}
