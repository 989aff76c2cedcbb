import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { organizationsQuery } from "../api/account.ts";
import { Icon } from "../ui/Icon.tsx";
import { Menu } from "../ui/Menu.tsx";
import styles from "./Frame.module.css";

/** Says in which organization one is, and leads to the others. */
export function OrganizationSwitch({ org }: { org: string }) {
  const { data: organizations = [] } = useQuery(organizationsQuery);
  const own = organizations.find(({ name }) => name === org);
  const face = (
    <>
      <span>{own?.display_name === undefined || own.display_name === "" ? org : own.display_name}</span>
      <Icon name="updown" size={14} />
    </>
  );
  return (
    <Menu label="Organization" face={face} from="start" className={styles["switch"]}>
      {organizations.map(({ name, display_name, role }) => (
        <Link key={name} to="/$org" params={{ org: name }}>
          <Icon name={name === org ? "check" : "spaces"} />
          {display_name === "" ? name : display_name} · {role}
        </Link>
      ))}
    </Menu>
  );
}
