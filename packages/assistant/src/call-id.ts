export function newCallId(): string {
  return newId("call");
}

export function newApprovalId(): string {
  return newId("approval");
}

/** Not by `crypto.randomUUID`, which a page has behind HTTPS alone, and a server on the local network seldom has that. */
function newId(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `${prefix}_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
