import { useQuery } from "@tanstack/react-query";

import { ask } from "../api/queries.ts";
import { Choice } from "../ui/Field.tsx";

interface TagChoiceProps {
  org: string;
  /** `key`, or `key:value`. */
  value: string | undefined;
  /** Whether the list is there that it filters: choices are asked for after that. */
  isReady: boolean;
  onChoose: (tag: string | undefined) => void;
}

/** Chooses one of the tags that environments have: a key and a value, or a key that has several with any of them. */
export function TagChoice({ org, value, isReady, onChoose }: TagChoiceProps) {
  const query = ask("GET /tags/{org}/{resource_type}", { params: { org, resource_type: "environment" } });
  const { data } = useQuery({ ...query, enabled: isReady });
  const known = (data?.tags ?? []).flatMap(({ key, values }): [string, string][] => [
    ...(values.length > 1 ? [[key, `${key}: any`] satisfies [string, string]] : []),
    ...values.map((text): [string, string] =>
      text === "" ? [key, key] : [`${key}:${text}`, `${key}:${text}`],
    ),
  ]);
  const isKnown = value === undefined || known.some(([tag]) => tag === value);
  return (
    <Choice
      label="Tag"
      value={value}
      choices={isKnown ? known : [[value, value], ...known]}
      onChoose={onChoose}
    />
  );
}
