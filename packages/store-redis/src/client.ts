import {
  driverCalls,
  importError,
  isTurnkeepError,
  type StoreConnection,
  type TurnkeepError,
} from "@turnkeep/core/store-kit";
import { type Driver, driverOf } from "./drivers.ts";
import type { RedisConnection, WaitReplicas } from "./options.ts";
import {
  codeOf,
  isBroken,
  isReply,
  isTimeout,
  refusalOr,
  refusedDatabase,
  storeName,
  withoutContent,
} from "./refusals.ts";
import type { Statement } from "./statements.ts";

export interface Calls {
  readonly run: Run;
  /** For what follows a write that has taken place: even if it is refused, not nothing was written. */
  readonly runAfter: Run;
  /** Waits until the replicas have what this connection wrote. */
  wait(replicas: WaitReplicas): Promise<void>;
  /** Whether the driver may have sent a command of these calls twice. */
  mayHaveRepeated(): boolean;
}

export type Run = <A>(statement: Statement<A>) => Promise<A>;

interface Opened {
  readonly driver: Driver;
  close(): void;
  /** Why it is not connected, as its listener was last told. */
  fault?: unknown;
}

/** If a call that was given up is not answered after so long, counted from its beginning, nor will the next be. */
const answersWithinMs = 1_000;

/** Does no I/O. `waitsMs`: how long a `WAIT` may hold up what was sent after it. */
export function connect(
  { client, url, config }: RedisConnection,
  waitsMs: number = 0,
): StoreConnection<Calls> {
  const given = client && driverOf(client);
  let opened: Promise<Opened> | undefined;
  let driver = given;
  const calls = driverCalls(storeName);

  async function send(command: string, args: (string | number)[]): Promise<unknown> {
    if (given !== undefined) return given.call(command, args);
    opened ??= open(url, config);
    const opening = opened;
    const own = await opening;
    driver = own.driver;
    try {
      return await own.driver.call(command, args);
    } catch (cause) {
      if (isTurnkeepError(own.fault) && opened === opening) opened = undefined;
      // The driver only reports that it gave up, or has nowhere to send the call; its listener gets the reason.
      throw isReply(cause) ? cause : (own.fault ?? cause);
    }
  }

  async function attempt<A>({ script, keys, values }: Statement<A>): Promise<A> {
    const args = [keys.length, ...keys, ...values];
    try {
      return (await send("evalsha", [script.sha, ...args])) as A;
    } catch (cause) {
      // After a restart, a failover or SCRIPT FLUSH the server has no scripts; sending the text stores it again.
      if (codeOf(cause) !== "NOSCRIPT") throw cause;
      return (await send("eval", [script.text, ...args])) as A;
    }
  }

  async function evaluate<A>(statement: Statement<A>): Promise<A> {
    try {
      return await attempt(statement);
    } catch (cause) {
      // A process that was frozen, or idle for long, learns by this read that its connection is gone.
      if (statement.script.reads && isBroken(cause)) return await attempt(statement);
      if (isTimeout(cause)) driver?.renew();
      throw cause;
    }
  }

  async function wait({ count, timeoutMs }: WaitReplicas): Promise<void> {
    const reached = Number(await send("wait", [count, timeoutMs]));
    if (reached >= count) return;
    throw new Error(
      `The master has the write, but only ${reached} of ${count} replicas within ${timeoutMs} ms`,
    );
  }

  /** Nobody waits for that answer any more; if it does not come, the connection is dead. */
  function suspect(answer: Promise<unknown>, since: number): void {
    const timer = setTimeout(() => driver?.renew(), since + answersWithinMs + waitsMs - Date.now());
    timer.unref?.();
    const answered = (): void => clearTimeout(timer);
    answer.then(answered, answered);
  }

  return {
    under(signal) {
      const breaks = driver?.breaks() ?? 0;
      const mayHaveRepeated = (): boolean => (driver?.breaks() ?? 0) !== breaks;
      // Of a call that was sent twice, the refusal may be of the second.
      const refused = (cause: unknown): unknown => (mayHaveRepeated() ? cause : refusalOr(cause));
      function track<T>(call: () => Promise<T>, told: (cause: unknown) => unknown): Promise<T> {
        const since = Date.now();
        let answer: Promise<T> | undefined;
        const tracked = calls.run(() => {
          answer = call().catch((cause: unknown) => {
            throw told(withoutContent(cause));
          });
          return answer;
        }, signal);
        if (signal !== undefined) {
          tracked.catch(() => {
            if (answer !== undefined && signal.aborted) suspect(answer, since);
          });
        }
        return tracked;
      }
      return {
        run: (statement) => track(() => evaluate(statement), refused),
        runAfter: (statement) => track(() => evaluate(statement), asItIs),
        wait: (replicas) => track(() => wait(replicas), asItIs),
        mayHaveRepeated,
      };
    },
    async close() {
      await calls.settled();
      const own = await opened?.catch(() => undefined);
      own?.close();
    },
  };
}

function asItIs(cause: unknown): unknown {
  return cause;
}

/**
 * If the server is unreachable, a call fails at once instead of after many attempts; the driver reconnects for the next
 * one. Nothing is sent twice: see the option `client`.
 */
const settings = {
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  connectTimeout: 10_000,
  commandTimeout: 30_000,
  keepAlive: 10_000,
  // For a master that became a replica: a new connection leads to the new master, if the address does.
  reconnectOnError: (error: Error): boolean => codeOf(error) === "READONLY",
};

/** Inside a `try`, so that bundlers do without a driver that is not installed. */
async function importDriver() {
  try {
    return await import("ioredis");
  } catch (cause) {
    throw importError("ioredis", cause);
  }
}

async function open(url: string | undefined, config: object | undefined): Promise<Opened> {
  const module = await importDriver();
  // The first releases of 5 export the class only as the module itself.
  const Redis = module.Redis ?? (module.default as unknown as typeof module.Redis);
  // Connected at the first call: with `lazyConnect: false` and no queue, the client would refuse that call.
  const options = { ...settings, ...config, lazyConnect: true };
  const client = url === undefined ? new Redis(options) : new Redis(url, options);
  const opened: Opened = { driver: driverOf(client), close: () => client.disconnect() };
  // Without a listener the driver prints to the console.
  client.on("error", (fault: unknown) => {
    const refused: TurnkeepError | undefined = refusedDatabase(fault);
    opened.fault = refused ?? fault;
    // Otherwise the driver would continue in database 0, where somebody else's data may be.
    if (refused !== undefined) client.disconnect();
  });
  // What was wrong before says nothing about a connection that breaks later.
  client.on("connect", () => {
    opened.fault = undefined;
  });
  // Without its queue the driver refuses calls before it is connected. If it cannot connect, each call says why.
  if (client.options.enableOfflineQueue === false) await client.connect().catch(() => {});
  return opened;
}
