import { createHash } from "node:crypto";
import type { EventEmitter } from "node:events";
import { importError, onAbort } from "@turnkeep/core/store-kit";
import type { Client, Pool, PoolClient } from "pg";
import type { QueryAnswer } from "./client.ts";
import { isMisnamed, metOthers } from "./refusals.ts";
import type { Statement } from "./sql.ts";

/** `name`: the one under which connections may keep the statement, parsed and planned. */
export type Sent = Pick<Statement<unknown>, "text" | "values"> & { readonly name: string | undefined };

/** How many texts a connection keeps, for all stores over its pool. Each of their names takes some 100 KB of the server. */
const maxKept = 50;

const ignore = (): void => {};

/** What the stores over a pool, or over a single client, know of its connections. */
class Watch {
  readonly #source: EventEmitter;
  /** How many stores that are not closed use it. */
  #stores = 0;
  /** When a connection was opened, or last answered. */
  readonly #heard = new WeakMap<object, number>();
  /** When a statement was sent that got no answer. */
  #silentSince = 0;
  /** The texts that a connection keeps. */
  readonly #kept = new WeakMap<object, Set<string>>();

  constructor(source: EventEmitter) {
    this.#source = source;
  }

  /**
   * A connection that breaks is reported to these listeners; without one, the process would end. Returns what a store
   * calls when it closes: the last one takes them away.
   */
  begin(): () => undefined {
    if (++this.#stores === 1) {
      // It may be there already: of a client, callers may have several proxies.
      if (!this.#source.listeners("error").includes(ignore)) this.#source.on("error", ignore);
      if ("totalCount" in this.#source) this.#source.on("connect", this.hear);
    }
    return () => {
      if (--this.#stores > 0) return;
      this.#source.removeListener("error", ignore);
      this.#source.removeListener("connect", this.hear);
    };
  }

  readonly hear = (client: object): void => {
    this.#heard.set(client, performance.now());
  };

  miss(sentAt: number): void {
    this.#silentSince = Math.max(this.#silentSince, sentAt);
  }

  /**
   * What silenced one connection, such as a firewall that forgot it, has silenced all that were opened before. One that it
   * knows nothing of is trusted: where a pool is wrapped, each may come as another object than was announced.
   */
  trusts(client: object): boolean {
    const heardAt = this.#heard.get(client);
    return heardAt === undefined || heardAt >= this.#silentSince;
  }

  /** Whether the connection keeps the statement, or may from now on, since it does not keep enough others. */
  keeps(client: object, text: string): boolean {
    const kept = this.#kept.get(client);
    if (kept === undefined) this.#kept.set(client, new Set([text]));
    else if (kept.size < maxKept) kept.add(text);
    else return kept.has(text);
    return true;
  }
}

/** The numbers of uses from which on a statement gets another name. */
const plannedAnew = new Set([1, 10, 100, 1_000, 10_000]);

/**
 * The names of statements. Each name is derived from one text, so it never means another. Once Postgres has a plan for
 * all parameters, it keeps it until its tables are analyzed, even one made when they were empty. So a statement is
 * planned anew, under another name, after 10, 100, 1,000 and 10,000 uses.
 */
export class StatementNames {
  readonly #byText = new Map<string, { readonly hash: string; uses: number; name: string }>();

  of(text: string): string {
    let known = this.#byText.get(text);
    if (known === undefined) {
      known = { hash: createHash("sha256").update(text).digest("base64url"), uses: 0, name: "" };
      this.#byText.set(text, known);
    }
    known.uses++;
    if (plannedAnew.has(known.uses)) known.name = `turnkeep_${known.hash}_${String(known.uses).length}`;
    return known.name;
  }
}

/** By what is watched, since stores may share it. */
const watches = new WeakMap<object, Watch>();

export function watch(source: Pool | Client): Watch {
  let known = watches.get(source);
  if (known === undefined) {
    known = new Watch(source);
    watches.set(source, known);
  }
  return known;
}

/** Inside a `try`, so that bundlers do without a driver that is not installed. */
async function importDriver() {
  try {
    return await import("pg");
  } catch (cause) {
    throw importError("pg", cause);
  }
}

/** Silent connections are asked after ten seconds whether they live, not after the two hours of most systems. */
const defaults = { connectionTimeoutMillis: 10_000, keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

export async function openPool(config: object): Promise<Pool> {
  const { default: pg } = await importDriver();
  const pool = new pg.Pool({ ...defaults, ...withOwnTls(config) });
  watch(pool).begin();
  return pool;
}

/** `pg` would let `?sslmode=require` in the address replace `ssl`, with its `ca`, by an empty one. */
function withOwnTls(config: { connectionString?: unknown; ssl?: unknown }): object {
  const { connectionString, ssl } = config;
  if (typeof connectionString !== "string" || typeof ssl !== "object" || ssl === null) return config;
  const [address, query = ""] = connectionString.split(/\?(.*)/s);
  const rest = query.split("&").filter((one) => !/^(sslmode=(?!disable$)|ssl=(true|1)$)/.test(one));
  return { ...config, connectionString: rest.join("&") === "" ? address : `${address}?${rest.join("&")}` };
}

/** A statement that nobody waits for must not keep its connection from others, so the connection is cut. */
export async function sendOverPool(
  pool: Pool,
  { name, text, values }: Sent,
  signal: AbortSignal | undefined,
): Promise<QueryAnswer> {
  const connections = watch(pool);
  let client = await pool.connect();
  while (!connections.trusts(client)) {
    cut(client);
    client = await pool.connect();
  }
  if (signal?.aborted) {
    client.release();
    throw signal.reason;
  }
  client.on("error", ignore);
  const sentAt = performance.now();
  const stop =
    signal &&
    onAbort(signal, () => {
      connections.miss(sentAt);
      client.release(true);
    });
  let healthy = false;
  try {
    const isKept = name !== undefined && connections.keeps(client, text);
    const answer = await (isKept ? client.query({ name, text, values }) : client.query(text, values));
    connections.hear(client);
    healthy = true;
    return answer;
  } catch (cause) {
    // After other errors, the connection may still wait for a result, or belong to a server that has become read-only.
    healthy = metOthers(cause) || isMisnamed(cause);
    // Only the server's errors have a severity.
    if (!(cause instanceof Error && "severity" in cause)) connections.miss(sentAt);
    throw cause;
  } finally {
    stop?.();
    client.removeListener("error", ignore);
    if (!signal?.aborted) client.release(!healthy);
  }
}

/** The driver cuts a connection with a statement under way; of an idle one it would take leave, and wait. */
function cut(client: PoolClient): void {
  client.query("").catch(ignore);
  client.release(true);
}
