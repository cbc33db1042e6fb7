import type { ChatMemoryStore } from "@turnkeep/core";

/** A server of a test's own that keeps what it has acknowledged, whatever happens to its process. */
export interface DurableServer {
  readonly url: string;
  /** Kills it with SIGKILL and starts it again on the same address and data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A store as the tests of faults and of load see it. */
export interface StoreTarget {
  /** `"Postgres"` */
  readonly name: string;
  start(): Promise<DurableServer>;
  /** A store of its own on that server, ready for use: tables made. */
  openStore(url: string): Promise<ChatMemoryStore>;
  /** The server answers before it has written to disk: killed, it may forget what it answered to each client last. */
  readonly mayForgetLast?: boolean | undefined;
  /** The program of another process: it hands the same `openStore` to `runWriter`. */
  readonly writer: URL;
}
