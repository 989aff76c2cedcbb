/** What receivers and the network do wrong, in words. Messages of the network's own may hold the secret address. */
const failures = new Map([
  ["ENOTFOUND", "Host not found"],
  ["EAI_AGAIN", "Host could not be looked up"],
  ["ECONNREFUSED", "Connection refused"],
  ["ECONNRESET", "Connection was reset"],
  ["EPIPE", "Connection was closed"],
  ["EPROTO", "The server does not speak TLS as we do"],
  ["EHOSTUNREACH", "Host is unreachable"],
  ["ENETUNREACH", "Network is unreachable"],
  ["ETIMEDOUT", "No answer in time"],
  ["ABORT_ERR", "No answer in time"],
  ["EAUTH", "The mail server refused our credentials"],
  ["EENVELOPE", "The mail server refused sender or recipients"],
  ["ETLS", "No secure connection to the mail server"],
  ["ECONNECTION", "The mail server cannot be reached"],
  ["ESOCKET", "The mail server cannot be reached"],
  ["EDNS", "The mail server cannot be found"],
]);

const unknownAuthority = "The server's certificate is not of an authority that is trusted here";

/** What is wrong with the certificate of a server, web or mail. */
const certificateFailures = new Map([
  ["DEPTH_ZERO_SELF_SIGNED_CERT", unknownAuthority],
  ["SELF_SIGNED_CERT_IN_CHAIN", unknownAuthority],
  ["UNABLE_TO_GET_ISSUER_CERT", unknownAuthority],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", unknownAuthority],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", unknownAuthority],
  ["CERT_HAS_EXPIRED", "The server's certificate has expired"],
  ["CERT_NOT_YET_VALID", "The server's certificate is not valid yet"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "The server's certificate is for another name"],
]);

/** Says why something could not be sent, in a sentence that does not name the address. */
export function explainFailure(error: unknown): string {
  if (error instanceof Error && error.name === "TargetRefused") return error.message;
  // Mail has a code of its own for what it was doing, and keeps that of the network.
  const { code, originalCode, name } = error as { code?: unknown; originalCode?: unknown; name?: unknown };
  if (name === "TimeoutError") return "No answer in time";
  if (typeof code !== "string") return "Sending failed";
  const certificate = certificateFailures.get(typeof originalCode === "string" ? originalCode : code);
  return certificate ?? failures.get(code) ?? `Sending failed (${code})`;
}
