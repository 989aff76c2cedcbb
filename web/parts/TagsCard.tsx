import { type FormEvent, useState } from "react";

import { useRefusal } from "../api/account.ts";
import { sending, useAction } from "../api/action.ts";
import { Button } from "../ui/Button.tsx";
import { ErrorNote } from "../ui/ErrorNote.tsx";
import { Field } from "../ui/Field.tsx";
import { Card, Quiet, Stack, Tag } from "../ui/Layout.tsx";
import { wrongField } from "./ActionDialog.tsx";
import { Sent } from "./Sent.tsx";
import styles from "./TagsCard.module.css";

const operation = "PATCH /tags/{org}/{resource_type}/{resource_id}";

interface TagsCardProps {
  org: string;
  kind: "environment" | "flow";
  name: string;
  tags: Readonly<Record<string, string>>;
}

/** The tags of a thing, each of which can be removed, and a form that sets another. */
export function TagsCard({ org, kind, name, tags }: TagsCardProps) {
  const [key, setKey] = useState("");
  const [value, setValue] = useState("");
  const refused = useRefusal(org, operation);
  const add = useAction(operation, () => {
    setKey("");
    setValue("");
  });
  const remove = useAction(operation);
  const mayNotAdd = add.isPending ? "Under way" : refused;
  const mayNotRemove = remove.isPending ? "Under way" : refused;
  const params = { org, resource_type: kind, resource_id: name };
  const all = Object.entries(tags);
  const input = { params, body: { set_tags: { [key]: value } } };
  const set = (event: FormEvent): void => {
    event.preventDefault();
    if (mayNotAdd === undefined) add.mutate(input);
  };
  return (
    <Card title="Tags">
      <Stack>
        {all.length === 0 ? <Quiet>This {kind} has none. Lists can be filtered by them.</Quiet> : null}
        <ul className={styles["tags"]}>
          {all.map(([tag, text]) => (
            <li key={tag}>
              <Tag>{text === "" ? tag : `${tag}: ${text}`}</Tag>
              <Button
                look="quiet"
                icon="close"
                aria-label={`Remove tag ${tag}`}
                refused={mayNotRemove}
                onClick={() => remove.mutate({ params, body: { remove_tags: [tag] } })}
              />
            </li>
          ))}
        </ul>
        {remove.error === null ? null : <ErrorNote failure={remove.error} />}
        <form className={styles["newTag"]} onSubmit={set}>
          <Field label="New tag" wrong={wrongField(add.error, key)}>
            {(tie) => (
              <input {...tie} required value={key} onChange={(event) => setKey(event.target.value)} />
            )}
          </Field>
          <Field label="Value">
            {(tie) => <input {...tie} value={value} onChange={(event) => setValue(event.target.value)} />}
          </Field>
          <Button type="submit" refused={mayNotAdd}>
            Set the tag
          </Button>
        </form>
        {add.error === null ? null : <ErrorNote failure={add.error} />}
        <Sent sends={key === "" ? [] : [sending(operation, input)]} />
      </Stack>
    </Card>
  );
}
