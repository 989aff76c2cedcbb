import { useQuery } from "@tanstack/react-query";

import { signInMethodsQuery } from "../../api/account.ts";
import { buttonClass, type ButtonLook } from "../../ui/Button.tsx";

/** The providers that people may sign in at, a button each; nothing where there is none. */
export function ProviderButtons({ next, look }: { next: string; look: ButtonLook }) {
  const methods = useQuery(signInMethodsQuery);
  const providers =
    methods.data?.methods.filter(({ kind, address }) => kind === "oidc" && address !== null) ?? [];
  return providers.map(({ name, display_name, address }) => (
    // A whole page is loaded: the address leads to another site.
    <a key={name} className={buttonClass(look)} href={`${address}?next=${encodeURIComponent(next)}`}>
      Sign in with {display_name}
    </a>
  ));
}
