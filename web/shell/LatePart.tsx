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
    <Dialog title="This did not arrive" onClose={onClose}>
      <p>
        {isMissingPart(error)
          ? "The server was upgraded, or is away. Save what you write here, then reload."
          : String(error)}
      </p>
      <Foot>
        <Button onClick={onClose}>Close</Button>
        <Button look="primary" onClick={() => void loadAnew()}>
          Reload the page
        </Button>
      </Foot>
    </Dialog>
  );
}

interface LatePartProps {
  /** Called when it is said that it has not arrived, and that was read. Undefined: nothing is said, for what nobody asked for. */
  onClose?: () => void;
  children: ReactNode;
}

/** Holds what comes after the page it stands on. Where that does not arrive, the page stays as it is, with what is written there. */
export function LatePart({ onClose, children }: LatePartProps) {
  return (
    <CatchBoundary
      getResetKey={() => 0}
      errorComponent={({ error }) =>
        onClose === undefined ? null : <NotArrived error={error} onClose={onClose} />
      }
    >
      <Suspense>{children}</Suspense>
    </CatchBoundary>
  );
}
