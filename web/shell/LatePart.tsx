import { CatchBoundary } from "@tanstack/react-router";
import { type ReactNode, Suspense } from "react";

import { Button } from "../ui/Button.tsx";
import { Dialog, Foot } from "../ui/Dialog.tsx";
import { isMissingPart, loadAnew } from "./outdated.ts";

interface NotArrivedProps {
  error: unknown;
  onClose: () => void;
}

function NotArrived({ error, onClose }: NotArrivedProps) {
  return (
    <Dialog title="This could not be shown" onClose={onClose}>
      {isMissingPart(error) ? (
        <p>
          This part of the app has not arrived: the server was upgraded since this page was opened, or cannot
          be reached. Reload the page to get it, once what you write here is saved.
        </p>
      ) : (
        <p>{error instanceof Error ? error.message : String(error)}</p>
      )}
      <Foot>
        <Button onClick={onClose}>Close</Button>
        <Button look="primary" onClick={() => void loadAnew()}>
          Reload the page
        </Button>
      </Foot>
    </Dialog>
  );
}

const once = (): string => "";

interface LatePartProps {
  /** Called when it is said that it has not arrived, and that was read. Undefined: nothing is said, for what nobody asked for. */
  onClose?: () => void;
  children: ReactNode;
}

/** Holds what comes after the page it stands on. Where that does not arrive, the page stays as it is, with what is written there. */
export function LatePart({ onClose, children }: LatePartProps) {
  return (
    <CatchBoundary
      getResetKey={once}
      errorComponent={({ error }) =>
        onClose === undefined ? null : <NotArrived error={error} onClose={onClose} />
      }
    >
      <Suspense>{children}</Suspense>
    </CatchBoundary>
  );
}
