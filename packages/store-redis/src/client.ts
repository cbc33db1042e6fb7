import { driverCalls, ownClient, type StoreConnection } from "@turnkeep/core/store-kit";
import { type Driver, driverOf, openDriver } from "./drivers.ts";
import type { RedisConnection, WaitReplicas } from "./options.ts";
import { codeOf, isBroken, isTimeout, refusalOr, storeName, withoutContent } from "./refusals.ts";
import type { Statement } from "./scripts.ts";

export interface Calls {
  readonly run: Run;
  /** For what follows a write that has taken place: even if it is refused, not nothing was written. */
  readonly runAfter: Run;
  /** Waits until the replicas have what these calls wrote. Rejects unless all of it ran on one connection, and this too. */
  wait(replicas: WaitReplicas): Promise<void>;
  /** Whether the driver may have sent a command of these calls twice. */
  mayHaveRepeated(): boolean;
}

export type Run = <A>(statement: Statement<A>) => Promise<A>;

/** If a call that was given up is not answered after so long, counted from its beginning, nor will the next be. */
const answersWithinMs = 1_000;

/** How long a call whose keys are on their way to another server is sent again, and how often. */
const movesWithinMs = 10_000;
const pauseMs = 50;

/** Does no I/O. `waitsMs`: how long a `WAIT` may hold up what was sent after it. */
export function connect(
  { client, url, config }: RedisConnection,
  waitsMs: number = 0,
): StoreConnection<Calls> {
  const given = client && driverOf(client);
  const own = ownClient(
    () => openDriver(url, config, () => own.forget()),
    ({ close }) => close(),
  );
  const { run, closeAfter } = driverCalls(storeName);
  let driver: Driver | undefined = given;

  async function open(): Promise<Driver> {
    driver = given ?? (await own.get());
    return driver;
  }

  async function send(command: string, args: (string | number)[]): Promise<unknown> {
    return (await open()).call(command, args);
  }

  async function attempt<A>({ script, keys, values, plain }: Statement<A>): Promise<A> {
    if (plain !== undefined && (await open()).readsMaster) {
      const replies = plain.commands.map(([command, ...args]) => send(command, args));
      const answer = plain.answer(await Promise.all(replies));
      if (answer !== undefined) return answer;
    }
    const args = [keys.length, ...keys, ...values];
    try {
      return (await send("evalsha", [script.sha, ...args])) as A;
    } catch (cause) {
      // After a restart, a failover or SCRIPT FLUSH the server has no scripts; sending the text stores it again.
      if (codeOf(cause) !== "NOSCRIPT") throw cause;
      return (await send("eval", [script.text, ...args])) as A;
    }
  }

  /** While a slot moves, both of its servers refuse a script that has keys on the other: it has done nothing. */
  async function arrived<A>(statement: Statement<A>, signal: AbortSignal | undefined): Promise<A> {
    for (const since = Date.now(); ; ) {
      try {
        return await attempt(statement);
      } catch (cause) {
        if (codeOf(cause) !== "TRYAGAIN" || Date.now() - since >= movesWithinMs) throw cause;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        if (signal?.aborted) throw cause;
      }
    }
  }

  async function evaluate<A>(statement: Statement<A>, signal: AbortSignal | undefined): Promise<A> {
    try {
      return await arrived(statement, signal);
    } catch (cause) {
      // A process that was frozen, or idle for long, learns by this read that its connection is gone.
      if (statement.script.reads && isBroken(cause)) return await arrived(statement, signal);
      // A master that became a replica keeps its connections: another one leads to the new master, if the address does.
      if (isTimeout(cause) || codeOf(cause) === "READONLY") driver?.renew();
      throw cause;
    }
  }

  /** `ran`: the connection of the write. Any other has written nothing that the server would wait for. */
  async function wait({ count, timeoutMs }: WaitReplicas, ran: number | undefined): Promise<void> {
    const reached = Number(await send("wait", [count, timeoutMs]));
    if (driver?.connection() !== ran) {
      throw new Error(
        "The master has the write, but its connection broke before replicas had it for certain",
      );
    }
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
        const tracked = run(() => {
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
      let ran: number | undefined;
      /** Remembers which connection the first of them ran on; where one fails, the others may be on another. */
      async function onConnection<A>(statement: Statement<A>): Promise<A> {
        try {
          const answer = await evaluate(statement, signal);
          ran ??= driver?.connection();
          return answer;
        } catch (cause) {
          ran = Number.NaN;
          throw cause;
        }
      }
      return {
        run: (statement) => track(() => onConnection(statement), refused),
        runAfter: (statement) => track(() => onConnection(statement), asItIs),
        wait: (replicas) => track(() => wait(replicas, ran), asItIs),
        mayHaveRepeated,
      };
    },
    close: () => closeAfter(own.close),
  };
}

function asItIs(cause: unknown): unknown {
  return cause;
}
