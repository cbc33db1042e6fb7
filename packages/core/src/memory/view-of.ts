import type { ViewOfOptions } from "../chat-memory-options.ts";
import { invalidOption } from "../errors.ts";
import type { ModelMessage, ModelMessageLike } from "../format/model-message.ts";
import type { Entry } from "../memory-entry.ts";
import type { AnyMessage } from "../message-format.ts";
import { openCallsFor } from "../view/repair.ts";
import { buildView } from "../view/view.ts";
import { resolveLimits } from "../window/limits.ts";
import { addAll, withoutRepeated } from "./add.ts";
import { withDeadline } from "./deadline.ts";
import { Draft } from "./draft.ts";
import { loadedFrom } from "./loaded.ts";
import { type DefaultFormat, type FormatOption, type OwnFormat, viewSettings } from "./options.ts";
import { prepareAll } from "./prepare.ts";
import { tellRepaired, warnOfOrder } from "./tell-view.ts";

const nothingYet = { version: null, nextSeq: 1, messages: [] };

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
  const { settings, signal, model, toolsKey, ...given } = viewSettings(options);
  const { memoryId, window, profile, timeoutMs } = settings;
  const { openCalls = openCallsFor(profile) } = given;
  if (!Array.isArray(messages)) throw invalidOption("viewOf needs an array of messages.");
  const prepared = prepareAll(messages as readonly (M | Entry<M>)[], settings.reader);
  warnOfOrder(settings);
  return withDeadline({ timeoutMs, signal }, async (call) => {
    const resolved = resolveLimits(window, memoryId, undefined, profile);
    if (resolved instanceof Promise) call.mayWait();
    const limits = await resolved;
    const reading = { loaded: loadedFrom(nothingYet, settings), settings, call };
    const draft = new Draft(reading.loaded, settings);
    for (const message of await withoutRepeated(prepared, reading)) {
      addAll({ ...reading, draft, limits }, [message], { forView: true });
    }
    const { live, epoch } = draft;
    const request = { live, epoch, settings, limits, profile, model, toolsKey, openCalls, call };
    const view = await buildView(request);
    call.throwIfEnded();
    tellRepaired(settings, view);
    return view.messages;
  });
}
