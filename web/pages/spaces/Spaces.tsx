import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { withMistakes } from "../../api/errors.ts";
import { pathOfSpace } from "../../domain/space-tree.ts";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { spacesQuery } from "../../parts/spaces.ts";
import { PageHead } from "../../shell/PageHead.tsx";
import { Button } from "../../ui/Button.tsx";
import { Empty } from "../../ui/Empty.tsx";
import { ErrorNote } from "../../ui/ErrorNote.tsx";
import { Note } from "../../ui/Note.tsx";
import { Waiting } from "../../ui/Waiting.tsx";
import { type Moves, type Thing, useMoves } from "./moves.ts";
import type { Space } from "./queries.ts";
import { SpaceContent } from "./SpaceContent.tsx";
import { DeleteSpace, MoveThing, NewSpace, RenameSpace } from "./SpaceDialogs.tsx";
import styles from "./Spaces.module.css";
import { SpaceTree } from "./SpaceTree.tsx";

const route = getRouteApi("/$org/spaces");

/** What a dialog was opened for. */
export type Asked =
  | { what: "new"; parent: Space | undefined }
  | { what: "rename"; space: Space }
  | { what: "delete"; space: Space }
  | { what: "move"; thing: Thing };

/** Says what could not be moved, or else what was moved last, which it takes back. */
function Moved({ moves, spaces }: { moves: Moves; spaces: readonly Space[] }) {
  const { last, failed, isPending } = moves;
  if (failed.length > 0)
    return (
      <div className={styles["moved"]}>
        {failed.map(({ thing, error }, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- notes are only added at the end, or all taken away.
          <ErrorNote key={at} what={`${thing.name} was not moved`} failure={withMistakes(error)} />
        ))}
      </div>
    );
  if (last === undefined) return null;
  const place = last.to === null ? "the root" : pathOfSpace(spaces, last.to);
  return (
    <div className={styles["moved"]} role="status">
      <Note kind="good">
        <div className={styles["movedLine"]}>
          <span>
            {last.thing.name} is in {place} now.
          </span>
          <Button refused={isPending ? "Under way" : undefined} onClick={moves.undo}>
            Undo
          </Button>
        </div>
      </Note>
    </div>
  );
}

interface DialogsProps {
  org: string;
  asked: Asked;
  spaces: readonly Space[];
  moves: Moves;
  onClose: () => void;
}

function Dialogs({ org, asked, spaces, moves, onClose }: DialogsProps) {
  if (asked.what === "new") return <NewSpace org={org} parent={asked.parent} onClose={onClose} />;
  if (asked.what === "rename") return <RenameSpace org={org} space={asked.space} onClose={onClose} />;
  if (asked.what === "delete") return <DeleteSpace org={org} space={asked.space} onClose={onClose} />;
  return (
    <MoveThing
      org={org}
      thing={asked.thing}
      spaces={spaces}
      onMove={(to) => {
        moves.move(asked.thing, to);
        onClose();
      }}
      onClose={onClose}
    />
  );
}

/** The tree that environments and flows are kept in: made, renamed and moved about here. */
export function Spaces() {
  const { org } = route.useParams();
  const query = useQuery(spacesQuery(org));
  const moves = useMoves(org);
  const [asked, setAsked] = useState<Asked>();
  const [dragged, setDragged] = useState<Thing>();
  const refused = useRefusal(org, "POST /spaces/{org}");
  const spaces = query.data;
  return (
    <>
      <PageHead
        title="Spaces"
        about="A space holds environments, flows and other spaces. Drag them, or use Move; it is saved at once."
        actions={
          <Button icon="plus" refused={refused} onClick={() => setAsked({ what: "new", parent: undefined })}>
            New space
          </Button>
        }
      />
      <Moved moves={moves} spaces={spaces ?? []} />
      {query.error !== null && spaces === undefined ? (
        <FailedToRead error={query.error} retry={() => void query.refetch()} />
      ) : spaces === undefined ? (
        <Waiting size="medium" />
      ) : (
        <div className={styles["split"]}>
          {spaces.length === 0 ? (
            <Empty
              title="No spaces yet"
              text="A space for each team or product makes long lists short: every list can be cut down to one."
            />
          ) : (
            <SpaceTree
              spaces={spaces}
              dragged={dragged}
              onDrag={setDragged}
              onDrop={moves.move}
              onAsk={setAsked}
            />
          )}
          <SpaceContent spaces={spaces} onDrag={setDragged} onAsk={setAsked} />
        </div>
      )}
      {asked === undefined ? null : (
        <Dialogs
          org={org}
          asked={asked}
          spaces={spaces ?? []}
          moves={moves}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}
