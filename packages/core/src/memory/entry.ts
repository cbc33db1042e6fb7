import type { Entry } from "../chat-memory.ts";
import type { ModelMessage } from "../format/model-message.ts";
import { checkObject } from "../option-checks.ts";

/** Shared with other copies of this package, so that an entry is one to each; JSON cannot forge it. */
const marker: unique symbol = Symbol.for("turnkeep.entry") as never;

/**
 * Wraps a message for `add`, `put` or `set` with the caller's own id, with the model that made it, or with when it was
 * said (`createdAt`, in milliseconds since the epoch; default now), as a conversation that moves here knows. The same id
 * added again with equal content is ignored, so that a retried request adds once, also where the message was evicted or
 * rewound since; with other content it is an `ID_CONFLICT`. An id is 1 to 256 UTF-8 bytes of well-formed Unicode without
 * U+0000. Order is that of adding, never of time; a message that `put` replaces keeps its time. Errors: `INVALID_OPTION`
 * for what is no object of these.
 *
 * @example
 * ```ts
 * import { createChatMemory, entry, user } from "@turnkeep/core";
 *
 * const memory = createChatMemory({});
 * await memory.add(entry(user("Hello"), { id: "request-17" }));
 * await memory.add(entry(user("Hello"), { id: "request-17" })); // a retry: nothing happens
 * ```
 */
// Any type will do. That ModelMessage is named lets TypeScript see a role in `role: "user"`, and not a string.
export function entry<M extends ModelMessage | NonNullable<unknown> | null | undefined>(
  message: M,
  options: {
    readonly id?: string | undefined;
    readonly model?: string | undefined;
    readonly createdAt?: number | undefined;
  },
): Entry<M> {
  checkObject("What entry is given beside the message", options, ["id", "model", "createdAt"]);
  const { id, model, createdAt } = options;
  const wrapped = { message, id, model, createdAt };
  Object.defineProperty(wrapped, marker, { value: true });
  return Object.freeze(wrapped) as unknown as Entry<M>;
}

export function isEntry<M>(value: M | Entry<M>): value is Entry<M> {
  return typeof value === "object" && value !== null && Object.hasOwn(value, marker);
}
