import { useQuery } from "@tanstack/react-query";

import { call } from "../../api/client.ts";
import { buttonClass } from "../../ui/Button.tsx";

/** The providers that people may sign in at, a button each; nothing where there is none. */
export function ProviderButtons({ next }: { next: string }) {
  const methods = useQuery({
    queryKey: ["sign-in-methods"],
    queryFn: ({ signal }) => call("GET /sign-in/methods", {}, signal),
  });
  const providers =
    methods.data?.methods.filter(({ kind, address }) => kind === "oidc" && address !== null) ?? [];
  return providers.map(({ name, display_name, address }) => (
    // A whole page is loaded: the address leads to another site.
    <a key={name} className={buttonClass()} href={`${address}?next=${encodeURIComponent(next)}`}>
      Sign in with {display_name}
    </a>
  ));
}
