-- Sign-in links for people who cannot reach the server's machine, for when the sign-in provider is away.

-- The public URL where it works; null for a link that works on the server's own machine alone.
alter table sign_in_links add column public_url text;
