import type { ErrorComponentProps } from "@tanstack/react-router";
import { useEffect, useState } from "react";

import { useConnection } from "../api/connection.ts";
import { ErrorNote } from "../ui/ErrorNote.tsx";
import { Waiting } from "../ui/Waiting.tsx";
import { isMissingPart, loadAnew, wasJustLoaded } from "./outdated.ts";
import { PageHead } from "./PageHead.tsx";

/**
 * Stands in place of a page that could not be shown, mostly because its own part of the app did not arrive. Then the app is loaded
 * anew as soon as the server is there, unless it just was. What comes after a page stands in a `LatePart`, and takes nothing with it.
 */
export function Broken({ error }: ErrorComponentProps) {
  const { isThere } = useConnection();
  const isMissing = isMissingPart(error);
  const [mayLeave] = useState(() => !wasJustLoaded());
  const isLeaving = isMissing && isThere && mayLeave;
  useEffect(() => {
    if (isLeaving) void loadAnew();
  }, [isLeaving]);
  if (isLeaving) return <Waiting size="large" />;
  return (
    <>
      <PageHead title="This page could not be shown" />
      <ErrorNote
        failure={{
          message: isMissing
            ? "A part of the app has not arrived. It is fetched once the server can be reached."
            : error instanceof Error
              ? error.message
              : String(error),
        }}
        retry={() => void loadAnew()}
      />
    </>
  );
}
