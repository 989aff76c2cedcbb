import { useNavigate, useParams } from "@tanstack/react-router";
import { useEffect } from "react";

import { isWriting } from "../api/writing.ts";

/** What was answered about a thing, and when. */
interface Answered {
  data: { name: string } | undefined;
  dataUpdatedAt: number;
}

/**
 * Replaces a former name in the address by the present one: changes and lists know a thing by that alone, and something else may take the
 * former. While something is written, which would be lost with the page, the address stays until an answer after that.
 * @param part the part of the address that says which thing it is.
 */
export function usePresentName(part: "env" | "flow", { data, dataUpdatedAt }: Answered): void {
  const navigate = useNavigate();
  const { [part]: given } = useParams({ strict: false });
  const name = data?.name;
  useEffect(() => {
    if (name === undefined || given === undefined || name === given || isWriting()) return;
    void navigate({
      to: ".",
      params: (before) => ({ ...before, [part]: name }),
      search: true,
      hash: true,
      replace: true,
    });
  }, [navigate, part, given, name, dataUpdatedAt]);
}
