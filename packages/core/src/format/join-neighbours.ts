import type { MessageFormat } from "../message-format.ts";
import { callback, elsewhere, wrongOption } from "../option-checks.ts";
import { type Fields, optional, takeMembers } from "../option-fields.ts";

/** What joins two messages, and which. */
type JoinOptions<M> = {
  /** What joins two messages; without `joined`, none are. */
  readonly format: Pick<MessageFormat<M>, "joined">;
  /** Which neighbours may become one, as far as the format can join them. Default: all. */
  readonly mayJoin?: ((first: M, second: M) => boolean) | undefined;
};

const fields = { format: elsewhere, mayJoin: optional(callback) } satisfies Fields<JoinOptions<unknown>>;

/**
 * The messages, with neighbours as one message where the format can join them. For authors of profiles, with
 * `mayJoin`, only those that it allows.
 *
 * Errors: `INVALID_OPTION` for anything but an array, if no format is given, and for a `mayJoin` that is no function.
 *
 * @example
 * ```ts
 * import { modelMessageFormat, user } from "@turnkeep/core";
 * import { joinNeighbours } from "@turnkeep/core/processors";
 *
 * joinNeighbours([user("Hello."), user("Who are you?")], { format: modelMessageFormat }).length; // 1
 * ```
 */
export function joinNeighbours<M>(messages: readonly M[], options: JoinOptions<M>): M[] {
  checkList("joinNeighbours", messages, options);
  const { format, mayJoin } = takeMembers("joinNeighbours' second argument", fields, options);
  return joinedWhere(messages, format, mayJoin);
}

/** The same, unchecked. */
export function joinedWhere<M>(
  messages: readonly M[],
  format: JoinOptions<M>["format"],
  mayJoin: JoinOptions<M>["mayJoin"] = () => true,
): M[] {
  return joinedHalves(messages, (first, second) =>
    mayJoin(first, second) ? format.joined?.(first, second) : undefined,
  );
}

/** Checks the arguments of a function over a list of messages. Errors: `INVALID_OPTION`. */
export function checkList(
  name: string,
  messages: readonly unknown[],
  options: { readonly format: object },
): void {
  if (!Array.isArray(messages))
    throw wrongOption(`${name}' first argument`, messages, "an array of messages");
  // A memory, for example, is accepted too: it has a format.
  if (typeof options?.format !== "object" || options.format === null)
    throw wrongOption(`${name}' second argument`, options, "an object with a format");
}

type Join<M> = (first: M, second: M) => M | undefined;

/** Halves first: each joining copies both messages, so that one by one, n of them would cost their square. */
function joinedHalves<M>(messages: readonly M[], join: Join<M>): M[] {
  if (messages.length < 2) return [...messages];
  const middle = messages.length >> 1;
  const before = joinedHalves(messages.slice(0, middle), join);
  const after = joinedHalves(messages.slice(middle), join);
  const [last, next, begins] = [before.at(-1) as M, after[0] as M, messages[middle] as M];
  const both = join(last, next);
  if (both !== undefined) return settled(before.slice(0, -1), both, after.slice(1), join);
  if (next === begins || join(last, begins) === undefined) return [...before, ...after];
  // The first of a group can be joined with what stands before it, and the others of the group cannot.
  return joinedOneByOne(messages, join);
}

function joinedOneByOne<M>(messages: readonly M[], join: Join<M>): M[] {
  return messages.reduce<M[]>((joined, message) => settled(joined, message, [], join), []);
}

/** Joins a message with its neighbours; what was joined can be of another kind, which those beside it can be joined with. */
function settled<M>(before: M[], message: M, after: M[], join: Join<M>): M[] {
  let settling = message;
  let next = 0;
  for (;;) {
    const last = before.at(-1);
    const withLast = last === undefined ? undefined : join(last, settling);
    if (withLast !== undefined) before.pop();
    const following = withLast === undefined ? after[next] : undefined;
    const both = withLast ?? (following === undefined ? undefined : join(settling, following));
    if (both === undefined) break;
    if (withLast === undefined) next++;
    settling = both;
  }
  before.push(settling);
  for (; next < after.length; next++) before.push(after[next] as M);
  return before;
}
