import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import {
  callDriver,
  driverCalls,
  importError,
  invalidOption,
  notReadyError,
  onAbort,
  parseUrl,
  type StoreConnection,
  show,
} from "@turnkeep/core/store-kit";
import type { DynamoConnection } from "./options.ts";

export const storeName = "dynamoStore";

/** What the store needs from a client. A `DynamoDBClient` of `@aws-sdk/client-dynamodb` provides it. */
export interface DynamoClient {
  /** Sends one command of that package. */
  send(command: never, options?: never): Promise<unknown>;
}

type Item = Record<string, AttributeValue>;

/** One operation of the database: its name and input and, as a type, its result. */
export interface Statement<A> {
  readonly operation: string;
  readonly input: object;
  /** Must succeed whoever else writes: waits out a conflict with a running transaction. */
  readonly insists?: boolean | undefined;
  readonly answers?: A | undefined;
}

export type Run = <A>(statement: Statement<A>) => Promise<A>;

type Driver = typeof import("@aws-sdk/client-dynamodb");
type Send = (statement: Statement<unknown>, signal: AbortSignal | undefined) => Promise<unknown>;

/** After this many attempts the call fails; with these waits that takes some seconds. */
const maxAttempts = 10;
const firstWaitMs = 25;
const longestWaitMs = 2_000;

/** How long a client that the store opened waits for an answer, including the driver's own retries. */
const answerWithinMs = 30_000;

/** The driver's codes, of its errors without `Exception`. */
const throttled = new Set([
  "ProvisionedThroughputExceeded",
  "Throttling",
  "ThrottlingError",
  "RequestLimitExceeded",
  // The same transaction, sent before, is still running.
  "TransactionInProgress",
]);

/** The error for a request whose keys the table does not have. */
const otherKeys =
  /key (?:element|schema|condition)|missing the key|mismatch for key|(?:conditions on the|required) keys/i;

/**
 * The host of an endpoint of AWS, which names its region: by service or account, for IPv6 too, or of an endpoint in a
 * network of its user's (PrivateLink).
 */
const regional =
  /\b(?:dynamodb(?:-fips)?|ddb)\.([a-z0-9-]+)\.(?:vpce\.)?(?:amazonaws|api\.aws|api\.amazonwebservices)\b/;

/** Does no I/O. */
export function connect({ client, url, config }: DynamoConnection, tableName: string): StoreConnection<Run> {
  let opened: Promise<{ send: Send; destroy: () => void }> | undefined;
  const calls = driverCalls(storeName);

  async function open(): Promise<{ send: Send; destroy: () => void }> {
    const driver = await importDriver();
    if (client !== undefined) return { send: sender(driver, client, undefined), destroy: () => {} };
    const own = new driver.DynamoDBClient(config ?? configOf(url as string));
    return { send: sender(driver, own, answerWithinMs), destroy: () => own.destroy() };
  }

  return {
    under(signal) {
      return <A>(statement: Statement<A>) =>
        calls.run(async () => {
          opened ??= open();
          return (await sendUntilDone((await opened).send, statement, tableName, signal)) as A;
        }, signal);
    },
    async close() {
      await calls.settled();
      (await opened?.catch(() => undefined))?.destroy();
    },
  };
}

async function importDriver(): Promise<Driver> {
  try {
    return await import("@aws-sdk/client-dynamodb");
  } catch (cause) {
    throw importError("@aws-sdk/client-dynamodb", cause, storeName);
  }
}

/** The driver's configuration for a URL of the options. */
export function configOf(address: string): object {
  const { url, username: accessKeyId, password: secretAccessKey } = parseUrl(address);
  url.username = "";
  url.password = "";
  const endpoint = url.href;
  const region = regional.exec(url.hostname)?.[1];
  if (accessKeyId === "") return region === undefined ? { endpoint } : { endpoint, region };
  return {
    endpoint,
    credentials: { accessKeyId, secretAccessKey },
    region: region ?? process.env.AWS_REGION ?? "us-east-1",
  };
}

function sender(driver: Driver, client: DynamoClient, timeoutMs: number | undefined): Send {
  const commands = driver as unknown as Record<string, unknown>;
  return async ({ operation, input }, signal) => {
    const Command = commands[`${operation}Command`] as new (input: object) => never;
    const controller = new AbortController();
    const cut = (): void => controller.abort();
    const stop = signal && onAbort(signal, cut);
    const timer = timeoutMs === undefined ? undefined : setTimeout(cut, timeoutMs);
    try {
      return await client.send(new Command(input), { abortSignal: controller.signal } as never);
    } catch (cause) {
      const isLate = controller.signal.aborted && signal?.aborted !== true;
      throw isLate ? new Error(`The database did not answer within ${timeoutMs} ms`) : cause;
    } finally {
      clearTimeout(timer);
      stop?.();
    }
  };
}

/** Repeats until the database has done all of it, or refused it; throttled parts are sent again. */
async function sendUntilDone(
  send: Send,
  statement: Statement<unknown>,
  tableName: string,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  let { input } = statement;
  const answers: Answer[] = [];
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = (await send({ ...statement, input }, signal)) as Answer;
      answers.push(answer);
      // What a batch left undone for lack of capacity.
      const left = answer.UnprocessedItems ?? answer.UnprocessedKeys ?? {};
      if (Object.keys(left).length === 0) return answers.length === 1 ? answer : joined(answers);
      input = { ...input, RequestItems: left };
      throw Object.assign(new Error("The database put off a part of the call"), {
        name: "ThrottlingException",
      });
    } catch (cause) {
      const codes = codesOf(cause);
      const isCondition = codes.includes("ConditionalCheckFailed");
      const isConflict = codes.includes("TransactionConflict");
      const isThrottled = codes.some((code) => throttled.has(code));
      const again = !isCondition && (isThrottled || (isConflict && statement.insists === true));
      if (!again && (isCondition || isConflict)) return { refused: codes };
      if (!again || attempt === maxAttempts) throw explained(cause, tableName);
    }
    // Random, so that calls refused together do not all return together.
    await pause(Math.random() * Math.min(firstWaitMs * 2 ** attempt, longestWaitMs), signal);
  }
}

/** Waits this long, or until the signal ends the call with `ABORTED`. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return callDriver(storeName, () => wait, signal).finally(() => clearTimeout(timer));
}

interface Answer {
  readonly UnprocessedItems?: object;
  readonly UnprocessedKeys?: object;
  readonly Responses?: Readonly<Record<string, readonly Item[]>>;
}

/** The items of all answers to one `BatchGetItem`, which names one table. */
function joined(answers: readonly Answer[]): Answer {
  const items = answers.flatMap(({ Responses = {} }) => Object.values(Responses).flat());
  return { Responses: { items } };
}

interface Reason {
  readonly Code?: string;
  Item?: unknown;
}

/** Why each action of a transaction was not done. */
function reasonsOf(cause: unknown): readonly Reason[] {
  return (cause as { CancellationReasons?: readonly Reason[] } | undefined)?.CancellationReasons ?? [];
}

/** Why a call failed: a code for each action of a transaction, or the one of another call. */
function codesOf(cause: unknown): readonly string[] {
  const name = nameOf(cause);
  if (name !== "TransactionCanceledException") return [name.replace(/Exception$/, "")];
  return reasonsOf(cause).map(({ Code = "None" }) => Code);
}

/**
 * The driver's error with its name as code (or the first reason for which a transaction was refused), and without stored
 * data, which it may quote. Errors that the user of the store can fix are put in our words.
 */
function explained(cause: unknown, tableName: string): unknown {
  for (const reason of reasonsOf(cause)) delete reason.Item;
  const name = nameOf(cause);
  if (cause instanceof Error && cause.message === "Region is missing") {
    return invalidOption(`${storeName}: set the region, by config: { region } or the variable AWS_REGION`);
  }
  if (name === "ResourceNotFoundException")
    return notReadyError(storeName, `the table ${show(tableName)}`, cause);
  if (name === "ValidationException" && otherKeys.test((cause as Error).message)) {
    return notReadyError(
      storeName,
      `the table ${show(tableName)} with these names of partition and sort key`,
      cause,
    );
  }
  // Of a transaction that was refused, the reasons say why.
  const [code = name] = reasonsOf(cause).flatMap(({ Code }) => (Code === "None" ? [] : (Code ?? [])));
  if (cause instanceof Error && !("code" in cause) && name !== "Error") Object.assign(cause, { code });
  return cause;
}

export function nameOf(cause: unknown): string {
  return cause instanceof Error ? cause.name : "";
}
