import { useQuery } from "@tanstack/react-query";
import { Navigate } from "@tanstack/react-router";

import { accountQuery, organizationsQuery } from "../../api/account.ts";
import { Empty } from "../../ui/Empty.tsx";
import { ErrorNote } from "../../ui/ErrorNote.tsx";
import styles from "./Account.module.css";
import { NewOrganizationLink } from "./Organizations.tsx";

/** Leads from the bare address to the caller's organization, or to signing in. */
export function Home() {
  const account = useQuery(accountQuery);
  const organizations = useQuery(organizationsQuery);
  const error = account.error ?? organizations.error;
  if (error !== null)
    return (
      <main className={styles["page"]}>
        <ErrorNote failure={error} retry={() => void account.refetch().then(() => organizations.refetch())} />
      </main>
    );
  if (account.data === undefined || organizations.data === undefined) return null;
  if (account.data === null) return <Navigate to="/-/sign-in" replace />;
  const { default_org_name } = account.data;
  const first = organizations.data.find(({ name }) => name === default_org_name) ?? organizations.data[0];
  if (first !== undefined) return <Navigate to="/$org" params={{ org: first.name }} replace />;
  return (
    <main className={styles["page"]}>
      <Empty
        title="You are in no organization yet"
        text="Ask an administrator of one to add you, or who runs this installation to make one for you."
      >
        <p>
          <NewOrganizationLink />
        </p>
      </Empty>
    </main>
  );
}
