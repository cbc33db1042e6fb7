/** The connection: sends commands of the AWS SDK until DynamoDB has done them or refused them. */
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import {
  callDriver,
  driverCalls,
  importError,
  onAbort,
  parseUrl,
  type StoreConnection,
} from "@turnkeep/core/store-kit";
import type { DynamoConnection } from "./options.ts";
import { codesOf, explained, isOpen, isThrottled, isUnanswered, storeName } from "./refusals.ts";

/** What the store needs from a client. A `DynamoDBClient` of `@aws-sdk/client-dynamodb` provides it. */
export interface DynamoClient {
  /** Sends one command of that package. */
  send(command: never, options?: never): Promise<unknown>;
}

type AttributeMap = Record<string, AttributeValue>;

/** One operation of the database: its name and input and, as a type, its result. */
export interface Statement<A> {
  readonly operation: string;
  readonly input: object;
  /** Must succeed whoever else writes: waits out a conflict with a running transaction. */
  readonly insists?: boolean | undefined;
  readonly answers?: A | undefined;
}

export type Run = <A>(statement: Statement<A>) => Promise<A>;

/** What a call does with the database, under its signal. */
export interface Calls {
  readonly run: Run;
  /** Waits so long, or until the signal ends it with `ABORTED`. To `close()` it is a call that is under way. */
  pause(ms: number): Promise<void>;
}

/** Why the database did not make a write whose condition did not hold, or that met a transaction. */
export interface Refusal {
  /** For each action. */
  readonly codes: readonly string[];
  /** An earlier attempt at the same write got no answer, and may have been made. */
  readonly isOpen: boolean;
  readonly cause: unknown;
}

type Driver = typeof import("@aws-sdk/client-dynamodb");

/** What became of a command, which the client may have sent several times. */
interface SendOutcome {
  answer?: Answer;
  cause?: unknown;
  /** One attempt at least may have taken place although it failed. */
  isOpen: boolean;
  /** Nothing came back for so long that its connection may be dead. */
  isSilent: boolean;
}

type Send = (statement: Statement<unknown>, signal: AbortSignal | undefined) => Promise<SendOutcome>;

/** After this many attempts the call fails; with these waits that takes some seconds. */
const maxAttempts = 10;
const firstWaitMs = 25;
const longestWaitMs = 2_000;

/** How long a client that the store opened waits for an answer, including the driver's own retries. */
const answerWithinMs = 15_000;
/** The same for what may be megabytes. */
const bulkyWithinMs = 30_000;
const bulky = /^(?:Batch|Transact)Write/;

/** Who gives up after so long, for whatever reason, may have waited on a dead connection. */
const silentAfterMs = 5_000;

const reads = /^(?:Batch|Transact)?Get|^Query|^Describe/;

/**
 * The host of an endpoint of AWS, which names its region: by service or account, for IPv6 too, or of an endpoint in a
 * network of its user's (PrivateLink).
 */
const regional =
  /\b(?:dynamodb(?:-fips)?|ddb)\.([a-z0-9-]+)\.(?:vpce\.)?(?:amazonaws|api\.aws|api\.amazonwebservices)\b/;

/** Does no I/O. */
export function connect(
  { client, url, config }: DynamoConnection,
  tableName: string,
): StoreConnection<Calls> {
  let own: { readonly client: DynamoClient & { destroy(): void }; underWay: number } | undefined;
  let imported: Promise<Driver> | undefined;
  const calls = driverCalls(storeName);

  const send: Send = async (statement, signal) => {
    imported ??= importDriver();
    const driver = await imported;
    if (client !== undefined) return sent(driver, client, statement, signal);
    own ??= { client: new driver.DynamoDBClient(config ?? configOf(url as string)), underWay: 0 };
    const used = own;
    used.underWay++;
    const timeoutMs = bulky.test(statement.operation) ? bulkyWithinMs : answerWithinMs;
    const outcome = await sent(driver, used.client, statement, signal, timeoutMs);
    // Its other connections may be dead, too: the next call gets new ones.
    if (outcome.isSilent && own === used) own = undefined;
    if (--used.underWay === 0 && own !== used) used.client.destroy();
    return outcome;
  };

  return {
    under(signal) {
      return {
        run: <A>(statement: Statement<A>) =>
          calls.run(async () => (await sendUntilDone(send, statement, tableName, signal)) as A, signal),
        pause: (ms) => calls.run(() => pause(ms, signal), signal),
      };
    },
    close: () => calls.closeAfter(() => own?.client.destroy()),
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

async function sent(
  driver: Driver,
  client: DynamoClient,
  { operation, input }: Statement<unknown>,
  signal: AbortSignal | undefined,
  timeoutMs?: number,
): Promise<SendOutcome> {
  const commands = driver as unknown as Record<string, unknown>;
  const Command = commands[`${operation}Command`] as new (input: object) => never;
  const command = new Command(input);
  const outcome: SendOutcome = { isOpen: false, isSilent: false };
  watch(command, outcome);
  const controller = new AbortController();
  const cut = (): void => controller.abort();
  const stop = signal && onAbort(signal, cut);
  const timer = timeoutMs === undefined ? undefined : setTimeout(cut, timeoutMs);
  const since = performance.now();
  try {
    outcome.answer = (await client.send(command, { abortSignal: controller.signal } as never)) as Answer;
  } catch (cause) {
    const isLate = controller.signal.aborted && signal?.aborted !== true;
    outcome.cause = isLate ? new Error(`The database did not answer within ${timeoutMs} ms`) : cause;
    outcome.isOpen ||= isOpen(outcome.cause);
    outcome.isSilent = isLate || (controller.signal.aborted && performance.now() - since >= silentAfterMs);
  } finally {
    clearTimeout(timer);
    stop?.();
  }
  return outcome;
}

interface Stack {
  add(middleware: (next: (args: never) => Promise<unknown>) => unknown, options: object): void;
}

/** Notes an attempt whose answer was lost: the client may repeat it by itself, and tells only of the last one. */
function watch(command: { readonly middlewareStack?: Stack }, outcome: SendOutcome): void {
  command.middlewareStack?.add(
    (next) => (args: never) =>
      next(args).catch((cause: unknown) => {
        outcome.isOpen ||= isOpen(cause);
        throw cause;
      }),
    { step: "deserialize", priority: "high" },
  );
}

/** Repeats until the database has done all of it, or refused it; throttled parts are sent again. */
async function sendUntilDone(
  send: Send,
  statement: Statement<unknown>,
  tableName: string,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const { operation, insists = false } = statement;
  let { input } = statement;
  const answers: Answer[] = [];
  let open = false;
  let mayRead = reads.test(operation);
  for (let attempt = 1; ; attempt++) {
    const { answer, cause = putOff(), ...outcome } = await send({ ...statement, input }, signal);
    open ||= outcome.isOpen;
    if (answer !== undefined) {
      answers.push(answer);
      // What a batch left undone for lack of capacity.
      const undone = answer.UnprocessedItems ?? answer.UnprocessedKeys ?? {};
      if (Object.keys(undone).length === 0) return answers.length === 1 ? answer : joined(answers);
      input = { ...input, RequestItems: undone };
    } else if (mayRead && isUnanswered(cause) && signal?.aborted !== true) {
      // A read whose connection was dead has another try, by another connection.
      mayRead = false;
      continue;
    }
    const codes = codesOf(cause);
    if (!mayPass(codes, insists)) {
      if (!isRefusal(codes)) throw explained(cause, open, operation, tableName);
      // By its token, a transaction that was made before would have been answered as made.
      const isCertain = codes.includes(conditionFailed) && "ClientRequestToken" in input;
      const isOpen = open && !isCertain;
      return { refusal: { codes, isOpen, cause: explained(cause, true, operation, tableName) } };
    }
    if (attempt === maxAttempts) throw explained(cause, open, operation, tableName);
    // Random, so that calls refused together do not all return together.
    await pause(Math.random() * Math.min(firstWaitMs * 2 ** attempt, longestWaitMs), signal);
  }
}

const conditionFailed = "ConditionalCheckFailed";
const conflict = "TransactionConflict";

function isRefusal(codes: readonly string[]): boolean {
  return codes.includes(conditionFailed) || codes.includes(conflict);
}

/** Whether a repeat of a write that was refused so may succeed. */
function mayPass(codes: readonly string[], insists: boolean): boolean {
  if (codes.includes(conditionFailed)) return false;
  return isThrottled(codes) || (insists && codes.includes(conflict));
}

function putOff(): Error {
  return Object.assign(new Error("The database put off a part of the call"), { name: "ThrottlingException" });
}

/** Waits this long, or until the signal ends the call with `ABORTED`. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return callDriver(storeName, () => wait, signal).finally(() => clearTimeout(timer));
}

interface Answer {
  readonly UnprocessedItems?: object;
  readonly UnprocessedKeys?: object;
  readonly Responses?: Readonly<Record<string, readonly AttributeMap[]>>;
}

/** The items of all answers to one `BatchGetItem`, which names one table. */
function joined(answers: readonly Answer[]): Answer {
  const items = answers.flatMap(({ Responses = {} }) => Object.values(Responses).flat());
  return { Responses: { items } };
}
