import type { MessageFormat } from "../message-format.ts";
import { checkedCodec } from "./checked-codec.ts";
import { equalContent } from "./equal-content.ts";
import type { Visit, Visitor } from "./visitor.ts";
import { MapText, WithoutEmptyText, WithResultText } from "./visitors/change-text.ts";
import { ApprovalRefs, CallRefs, Pieces, Presence, ResultRefs, Traits } from "./visitors/read.ts";
import { RenameCalls, RenameDocuments, RenameTools } from "./visitors/rename.ts";
import { Without } from "./visitors/without.ts";

/** What a traversal cannot tell of a format. Any other member of the format may be given too, and is then taken. */
export type OwnMembers<M> = Pick<MessageFormat<M>, "name" | "version" | "role" | "interruptedResults"> &
  Partial<MessageFormat<M>> & {
    /** Throws `INVALID_MESSAGE` for a value that `visit` could not work with; see {@link invalidMessage}. */
    readonly check: (message: unknown) => void;
  };

/**
 * Makes a `MessageFormat` of one traversal, `visit`, and of what a traversal cannot tell. All that reads a message or
 * makes a changed copy of it derives from `visit`: the calls, results and approvals, the pieces that count, whether it
 * is empty, copies without some of its parts, with other texts, ids or names. Give `textMessage` and `joined` too if
 * provider profiles are to work with the format.
 *
 * Two messages are equal by `equalContent`. The codec calls `check` in both directions.
 *
 * @example
 * ```ts
 * import { derived, invalidMessage, type Visit } from "@turnkeep/core/format-kit";
 *
 * type Line = { speaker: "user" | "assistant" | "tool"; text: string };
 *
 * const visit: Visit<Line> = (line, at) => at.textPart(line, "text", "content");
 * const lineFormat = derived<Line>(visit, {
 *   name: "line",
 *   version: 1,
 *   role: (line) => line.speaker,
 *   interruptedResults: () => [],
 *   textMessage: (speaker, text) => ({ speaker, text }),
 *   check(line) {
 *     if (typeof (line as Partial<Line> | null)?.text !== "string") throw invalidMessage("has no text", "Give one.");
 *   },
 * });
 * ```
 */
/* @__NO_SIDE_EFFECTS__ */
export function derived<M>(visit: Visit<M>, own: OwnMembers<M>): MessageFormat<M> {
  const { check, ...members } = own;
  const after = <V extends Visitor>(message: M, visitor: V): V => {
    visit(message, visitor);
    return visitor;
  };
  const isThere = (message: M, countsBlanks: boolean): boolean =>
    after(message, new Presence(countsBlanks)).isThere;
  // A copy that leaves nothing out is a message.
  const copy = (message: M, visitor: Visitor): M => visit(message, visitor) as M;
  const runners = (message: M): ((id: string) => boolean | undefined) => {
    let runs: Map<string, boolean> | undefined;
    return (id) => {
      runs ??= new Map(
        after(message, new CallRefs())
          .calls.map((call) => [call.id, call.providerExecuted === true] as const)
          .reverse(),
      );
      return runs.get(id);
    };
  };
  return {
    toolCalls: (message) => after(message, new CallRefs()).calls,
    toolResults: (message) => after(message, new ResultRefs()).results,
    approvals: (message) => after(message, new ApprovalRefs()).approvals,
    hasReasoning: (message) => after(message, new Traits()).hasReasoning,
    isBoundary: (message) => after(message, new Traits()).isBoundary,
    isEmpty: (message) => !isThere(message, false),
    pieces: (message) => after(message, new Pieces()).pieces,
    without(message, omission) {
      const left = visit(message, new Without(omission));
      return left === message || (left !== undefined && isThere(left, false)) ? left : undefined;
    },
    renameCalls: (message, rename) =>
      copy(message, new RenameCalls(rename, own.role(message), runners(message))),
    renameTools: (message, rename) =>
      copy(message, new RenameTools(rename, own.role(message), runners(message))),
    renameDocuments: (message, rename) => copy(message, new RenameDocuments(rename)),
    withResultText: (message, failed, silent, blank = silent) =>
      copy(message, new WithResultText(failed, silent, blank)),
    withoutEmptyText(message, which, keepSigned = false) {
      const left = visit(message, new WithoutEmptyText(which, keepSigned));
      return left === message || (left !== undefined && isThere(left, true)) ? left : undefined;
    },
    mapText: (message, change) => copy(message, new MapText(change)),
    visit,
    equals: equalContent,
    ...checkedCodec<M>(own.name, own.version, check),
    ...members,
  };
}
