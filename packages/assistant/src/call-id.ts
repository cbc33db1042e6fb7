/** Not by `crypto.randomUUID`, which a page has behind HTTPS alone, and a server on the local network seldom has that. */
export function newCallId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `call_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
