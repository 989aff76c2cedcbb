/** Takes the token of a one-time link from behind the address's `#`, and out of the address. */
export function takeToken(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token !== null) history.replaceState(history.state, "", location.pathname + location.search);
  return token ?? undefined;
}
