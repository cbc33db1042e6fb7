/** How the id of a thread begins that assistant-ui has made, which is short and known to one page. */
const localPrefix = "__LOCALID_";

/** The ids of threads on the server. */
export class ThreadIds {
  readonly #made = new Map<string, string>();

  /** The same whether the list asks first or the transport. */
  remoteOf(threadId: string): string {
    if (!threadId.startsWith(localPrefix)) return threadId;
    const made = this.#made.get(threadId) ?? crypto.randomUUID();
    this.#made.set(threadId, made);
    return made;
  }
}
