import type { ViewOfOptions } from "../chat-memory-options.ts";
import { invalidOption } from "../errors.ts";
import type { ModelMessage, ModelMessageLike } from "../format/model-message.ts";
import type { Entry } from "../memory-entry.ts";
import type { AnyMessage } from "../message-format.ts";
import { addAll, withoutRepeated } from "./add.ts";
import { Draft } from "./draft.ts";
import { type DefaultFormat, type FormatOption, type OwnFormat, viewSettings } from "./options.ts";
import { prepareAll } from "./prepare.ts";
import { Session } from "./session.ts";
import { Views } from "./views.ts";

/**
 * The view of a list that somebody else keeps, such as a framework's own session: what `messages()` returns of a memory
 * with these options to which the messages were added one after the other. So a list that has grown is cut where it was
 * cut before, until it exceeds the limit again, and the provider's cache keeps hitting. Nothing is stored; the messages
 * are copied and frozen. The cost grows with the list: keep it in a memory if it may become long.
 *
 * Errors: as {@link ChatMemory.messages}; `INVALID_MESSAGE`; `INVALID_OPTION`, also for a window that summarizes;
 * `ID_CONFLICT` for two entries of one id with different content.
 *
 * @example
 * ```ts
 * import { assistant, user, viewOf } from "@turnkeep/core";
 *
 * const kept = [user("One"), assistant("Two"), user("Three")];
 * console.log(await viewOf(kept, { window: { maxMessages: 1 } })); // [{ role: "user", content: "Three" }]
 * ```
 */
export function viewOf<M extends ModelMessageLike = ModelMessage>(
  messages: readonly (M | Entry<M>)[],
  options?: ViewOfOptions<NoInfer<M>> & DefaultFormat,
): Promise<M[]>;
export function viewOf<M extends AnyMessage>(
  messages: readonly (M | Entry<M>)[],
  options: ViewOfOptions<NoInfer<M>> & OwnFormat<M>,
): Promise<M[]>;
export async function viewOf<M>(
  messages: readonly (M | Entry<M>)[],
  options: ViewOfOptions<M> & FormatOption<M> = {},
): Promise<M[]> {
  const { settings, signal, ...asked } = viewSettings(options);
  if (!Array.isArray(messages)) throw invalidOption("viewOf needs an array of messages.");
  const session = new Session(settings);
  const views = new Views(settings, session);
  const request = views.ask({ ...asked, signal });
  const prepared = prepareAll(messages as readonly (M | Entry<M>)[], settings.reader);
  return session.run(signal, async (call) => {
    const limits = await views.limits(call);
    const reading = { loaded: await session.load(call), settings, call };
    const draft = new Draft(reading.loaded, settings);
    for (const message of await withoutRepeated(prepared, reading)) {
      addAll({ ...reading, draft, limits }, [message], { forView: true });
    }
    return views.show({ ...reading, loaded: draft.loaded("view") }, request);
  });
}
