import type { ModelMessage } from "../format/model-message.ts";
import type { Entry } from "../memory-entry.ts";
import { wrongOption } from "../option-checks.ts";
import { type Fields, optional, takeOptions } from "../option-fields.ts";

/** Shared by all copies of this package, so that each recognises the others' entries; JSON cannot forge it. */
const marker: unique symbol = Symbol.for("turnkeep.entry") as never;

// Whoever adds the entry checks the values.
const entryFields = {
  id: optional(),
  model: optional(),
  toolsKey: optional(),
  createdAt: optional(),
} satisfies Fields<Parameters<typeof entry>[1]>;

/**
 * Wraps a message for `add`, `put` or `set` with your own id, with the model that made it, with a name of the tools that it
 * was offered (`toolsKey`), or with the time when it was said (`createdAt`, in milliseconds since the epoch; default now), for example to import a conversation. Adding the
 * same id again with equal content does nothing, even if the message was evicted or rewound since, so a retried request
 * adds once. Other content is an `ID_CONFLICT`. An id is 1 to 256 UTF-8 bytes of well-formed Unicode without U+0000.
 * Messages are ordered as they were added, never by time; a message that `put` replaces keeps its time. Errors:
 * `INVALID_OPTION` if the second argument is not an object of these options.
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
// Accepts any type. Naming ModelMessage makes TypeScript infer `role: "user"` as a role, not as a string.
export function entry<M extends ModelMessage | NonNullable<unknown> | null | undefined>(
  message: M,
  options: {
    /** Your own id, at most 256 UTF-8 bytes. Default: a new UUID. */
    readonly id?: string | undefined;
    /** The model that made the message: see {@link ViewOptions.model}. */
    readonly model?: string | undefined;
    /** Names the tools that the model was offered when it made the message: see {@link ViewOptions.toolsKey}. */
    readonly toolsKey?: string | undefined;
    /** When it was said, in milliseconds since the epoch. Default: now. */
    readonly createdAt?: number | undefined;
  },
): Entry<M> {
  // Forgotten, it would be no entry.
  if (options === undefined) throw wrongOption("entry's second argument", options, "an object of options");
  const { id, model, toolsKey, createdAt } = takeOptions("entry's second argument", entryFields, options);
  const wrapped = { message, id, model, toolsKey, createdAt };
  Object.defineProperty(wrapped, marker, { value: true });
  return Object.freeze(wrapped) as unknown as Entry<M>;
}

export function isEntry<M>(value: M | Entry<M>): value is Entry<M> {
  try {
    return typeof value === "object" && value !== null && Object.hasOwn(value, marker);
  } catch {
    // A proxy that cannot be read is no message either, as the format will say.
    return false;
  }
}
