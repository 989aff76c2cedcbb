import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useRouter, useRouterState } from "@tanstack/react-router";

import { accountQuery, useAccount, useRole } from "../api/account.ts";
import { signOut } from "../api/client.ts";
import { Button, buttonClass } from "../ui/Button.tsx";
import { Icon, type IconName } from "../ui/Icon.tsx";
import { Menu } from "../ui/Menu.tsx";
import { Note } from "../ui/Note.tsx";
import styles from "./Frame.module.css";
import { forgetVisits } from "./visits.ts";
import { chooseTheme, type Theme, themes, themeWords, useTheme } from "./theme.ts";

const themeIcons: Readonly<Record<Theme, IconName>> = { system: "settings", light: "sun", dark: "moon" };

/** Ends the session, and forgets everything that was read with it. */
function useSignOut() {
  const queries = useQueryClient();
  const router = useRouter();
  return useMutation({
    mutationFn: signOut,
    onSuccess: async (address) => {
      forgetVisits();
      queries.clear();
      // A whole page is loaded: the address leads to another site.
      if (address !== null) return location.assign(address);
      queries.setQueryData(accountQuery.queryKey, null);
      await router.navigate({ to: "/-/sign-in" });
    },
  });
}

function Role({ org }: { org: string }) {
  const role = useRole(org);
  return <small>{role === null ? <>&nbsp;</> : (role ?? "not a member here")}</small>;
}

/** Who is signed in, and what they may do about it. @param org of the page, where it is one of an organization. */
export function AccountMenu({ org }: { org?: string }) {
  const account = useAccount();
  const theme = useTheme();
  const leave = useSignOut();
  const here = useRouterState({ select: ({ location }) => location.href });
  if (account === undefined) return null;
  if (account === null)
    return (
      <Link to="/-/sign-in" search={{ next: here }} className={buttonClass("primary")}>
        Sign in
      </Link>
    );
  const face = (
    <>
      <Icon name="user" size={18} />
      <span>
        <span>{account.display_name === "" ? account.name : account.display_name}</span>
        {org === undefined ? null : <Role org={org} />}
      </span>
    </>
  );
  return (
    <>
      {leave.error === null ? null : <Note kind="bad">You are still signed in: {leave.error.message}</Note>}
      <Menu label="Account" face={face} from={org === undefined ? "end" : "start"} className={styles["who"]}>
        <Link to="/-/profile">
          <Icon name="user" />
          Profile
        </Link>
        <Link to="/-/organizations">
          <Icon name="spaces" />
          Organizations
        </Link>
        {account.is_instance_admin ? (
          <Link to="/-/instance">
            <Icon name="settings" />
            Instance
          </Link>
        ) : null}
        <hr />
        {themes.map((one) => (
          <button key={one} type="button" aria-pressed={one === theme} onClick={() => chooseTheme(one)}>
            <Icon name={one === theme ? "check" : themeIcons[one]} />
            {themeWords[one]}
          </button>
        ))}
        <hr />
        <Button look="quiet" icon="signout" onClick={() => leave.mutate()}>
          Sign out
        </Button>
      </Menu>
    </>
  );
}
