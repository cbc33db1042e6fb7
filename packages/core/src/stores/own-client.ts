/** A client that a store opens itself: at its first call, once for all of them. */
export interface OwnClient<Client> {
  /** The client, which is opened unless it is. Where that failed, the next call tries again. */
  get(): Promise<Client>;
  /** The next call opens another. This one is the caller's to close. */
  forget(): void;
  /** Closes the client, if one was opened. */
  close(): Promise<void>;
}

/**
 * Opens a client when it is first needed, so that a store's factory does no I/O, and closes it.
 *
 * @example
 * ```ts
 * import { driverCalls, ownClient } from "@turnkeep/core/store-kit";
 *
 * interface Client { query(text: string): Promise<string>; end(): Promise<void> }
 *
 * function connect(open: () => Promise<Client>) {
 *   const own = ownClient(open, (client) => client.end());
 *   const calls = driverCalls("myStore");
 *   return {
 *     under: (signal?: AbortSignal) => (text: string) => calls.run(async () => (await own.get()).query(text), signal),
 *     close: () => calls.closeAfter(own.close),
 *   };
 * }
 * ```
 */
export function ownClient<Client>(
  open: () => Promise<Client>,
  close: (client: Client) => unknown,
): OwnClient<Client> {
  let opened: Promise<Client> | undefined;
  function get(): Promise<Client> {
    if (opened === undefined) {
      const opening = open();
      opened = opening;
      opening.catch(() => {
        if (opened === opening) opened = undefined;
      });
    }
    return opened;
  }
  return {
    get,
    forget() {
      opened = undefined;
    },
    async close() {
      const client = await opened?.catch(() => undefined);
      if (client !== undefined) await close(client);
    },
  };
}
