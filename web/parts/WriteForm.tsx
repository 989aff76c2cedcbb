import type { FormEvent, ReactNode } from "react";

import { type Action, sending } from "../api/action.ts";
import type { InputOf, WriteAddress } from "../api/contract.ts";
import { Button } from "../ui/Button.tsx";
import { Row } from "../ui/Layout.tsx";
import { LeaveGuard } from "./LeaveGuard.tsx";
import { Refused } from "./Refused.tsx";
import { Sent } from "./Sent.tsx";
import styles from "./WriteForm.module.css";

export interface WriteFormProps<A extends WriteAddress> {
  action: Action<A>;
  /** What will be sent. */
  input: InputOf<A>;
  /** What the button says that sends it. */
  submit: string;
  /** The button is what the page is for. */
  isPrimary?: boolean;
  /** Leads away from it. */
  onCancel?: () => void;
  /** It takes all the room there is. */
  isWide?: boolean;
  /** Why it cannot be sent. */
  refused: string | undefined;
  /** Whether something is written in it that would be lost with the page. */
  isChanged: () => boolean;
  /** The fields. */
  children: ReactNode;
}

/**
 * A form that stands in a page, as `ActionDialog` before it: its fields, why they were refused, and what will be sent. It asks before what is
 * written in it is left behind.
 */
export function WriteForm<A extends WriteAddress>({
  action,
  input,
  submit,
  isPrimary,
  onCancel,
  isWide,
  refused,
  isChanged,
  children,
}: WriteFormProps<A>) {
  const reason = action.isPending ? "Under way" : refused;
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (reason === undefined) action.mutate(input);
  };
  return (
    <>
      <form className={isWide === true ? styles["wide"] : styles["form"]} onSubmit={send}>
        {children}
        {action.error === null ? null : <Refused error={action.error} />}
        <Row>
          <Button type="submit" look={isPrimary === true ? "primary" : "plain"} refused={reason}>
            {submit}
          </Button>
          {onCancel === undefined ? null : <Button onClick={onCancel}>Cancel</Button>}
          <output>{action.isSuccess ? "Saved" : ""}</output>
        </Row>
        <Sent sends={[sending(action.operation, input)]} />
      </form>
      <LeaveGuard isChanged={isChanged} />
    </>
  );
}
