import {
  isTurnkeepError,
  type MessageFormat,
  type Piece,
  type TextPlace,
  type ToolCallRef,
} from "@turnkeep/core";
import { expectEqual, expectThat } from "../support/expect.ts";

/** A promise of `MessageFormat`, tried with one message. */
export interface FormatCase {
  /** The promise, as a failure shows it. */
  readonly promise: string;
  /** Returns if the format keeps it; otherwise throws an error that says what was expected and seen. */
  run<M>(format: MessageFormat<M>, message: M): void;
}

const roles = ["system", "user", "assistant", "tool"];

/** Stands in no message that anybody wrote. */
const marker = "\u2060turnkeep\u2060";

export const formatCases: readonly FormatCase[] = [
  {
    promise: "a message comes back from its text as it was, to the last member",
    run(format, message) {
      const text = format.encode(message);
      const decoded = format.decode(text);
      expectThat("whether decode answers a new message", !isSameObject(decoded, message), false);
      expectEqual("the decoded message", decoded, message);
      expectEqual("whether the two are equal", format.equals(decoded, message), true);
      expectEqual("the text of the decoded message", format.encode(decoded), text);
    },
  },
  {
    promise: "the text is JSON that any database takes, with the format's name and version",
    run(format, message) {
      const text = format.encode(message);
      expectThat("whether it is well-formed, without U+0000", isStorable(text), text);
      const envelope = JSON.parse(text) as { format?: unknown; version?: unknown };
      expectEqual("its format", envelope.format, format.name);
      expectEqual("its version", envelope.version, format.version);
    },
  },
  {
    promise: "what it cannot read is an error: a later version, another format, damaged text",
    run(format, message) {
      const envelope = JSON.parse(format.encode(message)) as object;
      const later = JSON.stringify({ ...envelope, version: format.version + 1 });
      expectEqual(
        "decode of a later version",
        codeOf(() => format.decode(later)),
        "UNSUPPORTED_VERSION",
      );
      const others = JSON.stringify({ ...envelope, format: `${format.name}-other` });
      expectEqual(
        "decode of another format",
        codeOf(() => format.decode(others)),
        "CORRUPT_RECORD",
      );
      expectEqual(
        "decode of half a text",
        codeOf(() => format.decode(others.slice(0, -1))),
        "CORRUPT_RECORD",
      );
    },
  },
  {
    promise: "it says what a message is",
    run(format, message) {
      expectThat("its role", roles.includes(format.role(message)), format.role(message));
      for (const { id, name } of format.toolCalls(message)) {
        expectThat("the id of a call", isText(id), id);
        expectThat("the name of a call", typeof name === "string", name);
      }
      for (const { id } of format.toolResults(message)) expectThat("the id of a result", isText(id), id);
      if (format.isEmpty(message))
        expectEqual("the calls of an empty message", format.toolCalls(message), []);
      for (const piece of format.pieces(message)) {
        expectThat("a text that counts", piece.type === "media" || typeof piece.text === "string", piece);
      }
      const isCounted = format.toolCalls(message).length === 0 || format.pieces(message).length > 0;
      expectThat("whether the texts of a call count", isCounted, format.toolCalls(message));
    },
  },
  {
    promise: "what a message sets stays in force, without what it says beside it",
    run(format, message) {
      const names = format.sets?.(message) ?? [];
      const maySet = ["system", "tool"].includes(format.role(message));
      expectThat("the names of what it sets", names.every(isText) && (maySet || names.length === 0), names);
      const left = format.inForce?.([message]) ?? [];
      const isLeft = left.every((one) => format.sets?.(one).every((name) => names.includes(name)));
      expectThat("what is in force of it", isLeft, left.length);
      for (const one of left)
        expectEqual("what is in force of that", format.inForce?.([one])[0] === one, true);
    },
  },
  {
    promise: "texts change and nothing else",
    run(format, message) {
      if (format.mapText === undefined) return;
      const asked: { text: string; of: TextPlace }[] = [];
      const same = format.mapText(message, (text, of) => {
        asked.push({ text, of });
        return text;
      });
      expectEqual("whether a message without a change is the message itself", same === message, true);
      const counted = format.pieces(message).flatMap((piece) => (piece.type === "text" ? [piece] : []));
      // What a provider ran or packed may be for the provider alone to read.
      const isAllMine = !format.isBoundary(message) && foreignIds(format, message).length === 0;
      for (const { text, of } of isAllMine ? counted.filter(({ text }) => text.trim() !== "") : []) {
        const isAsked = of === "name" || of === "reasoning" || asked.some((one) => one.of === of);
        expectThat("whether a text that counts may change", isAsked, { of, characters: text.length });
      }
      for (const { text, of } of asked.filter(({ text }) => text.trim() !== "")) {
        const isCounted = counted.some((piece) => piece.of === of && piece.text.includes(bare(text)));
        expectThat("whether a text that may change also counts", isCounted, { of });
      }
      // A number with a mark behind it would be a text.
      const isNumber = (text: string): boolean => text.trim() !== "" && Number.isFinite(Number(text));
      const marked = format.mapText(message, (text) => (isNumber(text) ? text : `${text}${marker}`));
      const isChanged = asked.some(({ text }) => !isNumber(text));
      expectEqual("whether a change shows", marked !== message, isChanged);
      expectSameBut("with other texts", format, message, marked, { texts: true });
      expectEqual(
        "what counts, once the texts are changed back",
        textsOf(format, marked)
          .map((text) => text.replaceAll(marker, ""))
          .join(" "),
        textsOf(format, message).join(" "),
      );
    },
  },
  {
    promise: "ids are renamed everywhere, and nothing else",
    run(format, message) {
      if (format.renameCalls === undefined) return;
      expectEqual(
        "whether ids that stay make the message itself",
        format.renameCalls(message, (id) => id),
        message,
      );
      const renamed = format.renameCalls(message, (id) => `${id}${marker}`);
      const stated = new Set(valuesOf(format, message));
      // An id that the format makes up, where a call has none, is no id to rename.
      const mine = new Set(callIds(format, message).filter((id) => stated.has(id)));
      const after = ({ id, providerExecuted }: ToolCallRef): string =>
        providerExecuted !== true && stated.has(id) ? `${id}${marker}` : id;
      expectEqual(
        "the calls",
        format.toolCalls(renamed),
        format.toolCalls(message).map((call) => ({ ...call, id: after(call) })),
      );
      for (const [index, { id }] of format.toolResults(message).entries()) {
        if (!mine.has(id)) continue;
        expectEqual("the id of a result", format.toolResults(renamed)[index]?.id, `${id}${marker}`);
      }
      expectSameBut("with other ids", format, message, renamed, { ids: true });
      const back = format.renameCalls(renamed, (id) => id.replaceAll(marker, ""));
      expectEqual("the message with its ids back", back, message);
      const left = valuesOf(format, renamed).filter((value) => mine.has(value));
      const told = new Set([...textsOf(format, message), ...foreignIds(format, message)]);
      expectEqual(
        "the ids that were left",
        left.filter((id) => !told.has(id)),
        [],
      );
    },
  },
  {
    promise: "tools are renamed in calls and results, and nothing else",
    run(format, message) {
      if (format.renameTools === undefined) return;
      expectEqual(
        "whether names that stay make the message itself",
        format.renameTools(message, (name) => name),
        message,
      );
      const renamed = format.renameTools(message, (name) => (name === "" ? name : `${name}_x`));
      const stated = new Set(valuesOf(format, message));
      for (const [index, { name, providerExecuted }] of format.toolCalls(message).entries()) {
        const now = format.toolCalls(renamed)[index]?.name;
        const isKept = providerExecuted === true || name === "";
        // A provider's built-in tool has a name only in the format.
        if (!isKept && !stated.has(name) && now === name) continue;
        expectEqual("the name of a call", now, isKept ? name : `${name}_x`);
      }
      const back = format.renameTools(renamed, (name) => name.replace(/_x$/, ""));
      expectEqual("the message with its names back", back, message);
    },
  },
  {
    promise: "a copy without calls, results, reasoning or media has none, and is a message",
    run(format, message) {
      expectEqual(
        "whether a copy without nothing is the message itself",
        format.without(message, {}),
        message,
      );
      // Of calls that share an id, what becomes of the provider's may become of the other.
      const foreign = new Set(foreignIds(format, message));
      const uncalled = format.without(message, { toolCalls: () => true });
      if (uncalled !== undefined) expectEqual("the calls that are left", format.toolCalls(uncalled), []);
      const unanswered = format.without(message, { toolResults: () => true });
      if (unanswered !== undefined)
        expectEqual("the results that are left", format.toolResults(unanswered), []);
      const unthought = format.without(message, { reasoning: true });
      if (unthought !== undefined) {
        expectEqual("whether it still has reasoning", format.hasReasoning(unthought), false);
        expectEqual(
          "the calls beside the reasoning",
          callsBut(format, unthought, foreign),
          callsBut(format, message, foreign),
        );
      }
      const unseen = format.without(message, { media: true });
      if (unseen !== undefined) {
        const left = mediaOf(format, unseen).filter(({ of }) => of === "content");
        expectEqual("the media that are left", left, []);
      }
      for (const copy of [uncalled, unanswered, unthought, unseen]) {
        if (copy === undefined || copy === message) continue;
        expectEqual("whether a copy is empty", format.isEmpty(copy), false);
        expectEqual("the copy, encoded and decoded", format.decode(format.encode(copy)), copy);
      }
    },
  },
  {
    promise: "calls that nobody answered can be answered",
    run(format, message) {
      const answeredIds = new Set(format.toolResults(message).map(({ id }) => id));
      const calls = format
        .toolCalls(message)
        .filter((call) => call.providerExecuted !== true && !answeredIds.has(call.id));
      if (calls.length === 0) return;
      // A call that the user denied stays denied.
      const isResponded = format.approvals(message).some(({ kind }) => kind === "response");
      const answered =
        format.interrupted === undefined
          ? format.interruptedResults(calls, "interrupted")
          : [format.interrupted(message, calls, "interrupted")];
      const ids = answered.flatMap((result) => format.toolResults(result)).map(({ id }) => id);
      expectEqual(
        "the calls that are answered",
        calls.filter(({ id }) => !ids.includes(id)),
        [],
      );
      for (const result of answered) {
        expectEqual("an answer, encoded and decoded", format.decode(format.encode(result)), result);
        const texts = textsOf(format, result).join(" ");
        // Some calls can be answered with a picture alone.
        const canTell = !isResponded && canHold(format, result, "interrupted");
        expectThat("whether an answer holds the text", !canTell || texts.includes("interrupted"), texts);
      }
    },
  },
  {
    promise: "a text of its own can be made and joined",
    run(format) {
      if (format.textMessage === undefined) return;
      for (const role of ["user", "assistant"] as const) {
        const [first, second] = [format.textMessage(role, "one"), format.textMessage(role, "two")];
        expectEqual("its role", format.role(first), role);
        expectEqual("what counts of it", textsOf(format, first), ["one"]);
        const joined = format.joined?.(first, second);
        if (joined === undefined) continue;
        expectEqual("the texts of two that were joined", textsOf(format, joined).join(" ").split(/\s+/), [
          "one",
          "two",
        ]);
      }
    },
  },
];

/** What reads the same of both, but for what was changed on purpose. */
function expectSameBut<M>(
  how: string,
  format: MessageFormat<M>,
  before: M,
  after: M,
  changed: { readonly texts?: boolean; readonly ids?: boolean },
): void {
  expectEqual(`the role ${how}`, format.role(after), format.role(before));
  expectEqual(`whether it has reasoning, ${how}`, format.hasReasoning(after), format.hasReasoning(before));
  expectEqual(`the media ${how}`, mediaOf(format, after), mediaOf(format, before));
  // A part that the format does not know is shown as it is, with its id.
  const unmarked = textsOf(format, after).map((text) => text.replaceAll(marker, ""));
  if (changed.texts !== true) expectEqual(`the texts ${how}`, unmarked, textsOf(format, before));
  if (changed.ids === true) return;
  expectEqual(`the calls ${how}`, format.toolCalls(after), format.toolCalls(before));
  expectEqual(`the results ${how}`, format.toolResults(after), format.toolResults(before));
  expectEqual(`the approvals ${how}`, format.approvals(after), format.approvals(before));
}

function textsOf<M>(format: MessageFormat<M>, message: M): string[] {
  return format
    .pieces(message)
    .flatMap((piece) => (piece.type === "text" && piece.of !== "name" ? [piece.text] : []));
}

function mediaOf<M>(format: MessageFormat<M>, message: M): Piece[] {
  return format.pieces(message).filter((piece) => piece.type === "media");
}

/** The ids of the calls that the application runs, as the message tells of them and of their results. */
function callIds<M>(format: MessageFormat<M>, message: M): string[] {
  const others = new Set(foreignIds(format, message));
  const calls = format.toolCalls(message).map(({ id }) => id);
  const results = format.role(message) === "assistant" ? [] : format.toolResults(message).map(({ id }) => id);
  return [...calls, ...results].filter((id) => !others.has(id));
}

/** The ids of the calls that the provider ran: as they say themselves, or by a result in the answer that has no call. */
function foreignIds<M>(format: MessageFormat<M>, message: M): string[] {
  const calls = format.toolCalls(message);
  const ran = calls.flatMap((call) => (call.providerExecuted === true ? [call.id] : []));
  if (format.role(message) !== "assistant") return ran;
  const known = new Set(calls.map(({ id }) => id));
  return [...ran, ...format.toolResults(message).flatMap(({ id }) => (known.has(id) ? [] : [id]))];
}

function callsBut<M>(format: MessageFormat<M>, message: M, ids: ReadonlySet<string>): ToolCallRef[] {
  return format.toolCalls(message).filter(({ id }) => !ids.has(id));
}

function canHold<M>(format: MessageFormat<M>, message: M, text: string): boolean {
  const changed = format.mapText?.(message, () => text);
  return changed === undefined || textsOf(format, changed).join(" ").includes(text);
}

/** Every text that stands in a message on its own. */
function valuesOf<M>(format: MessageFormat<M>, message: M): string[] {
  return valuesIn(JSON.parse(format.encode(message)));
}

function valuesIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(valuesIn);
}

/** A text that is passed as JSON counts as the value it stands for. */
function bare(text: string): string {
  return /^".*"$/s.test(text) ? text.slice(1, -1) : text;
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isStorable(text: string): boolean {
  return !text.includes("\u0000") && !/\p{Surrogate}/u.test(text);
}

function isSameObject(a: unknown, b: unknown): boolean {
  return typeof a === "object" && a !== null && a === b;
}

function codeOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return isTurnkeepError(error) ? error.code : "another error";
  }
  return "no error";
}
