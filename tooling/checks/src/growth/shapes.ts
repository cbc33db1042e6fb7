import type { ModelMessageLike, ModelMessagePart } from "@turnkeep/core";

type Part = ModelMessagePart & Readonly<Record<string, unknown>>;
type Messages = readonly ModelMessageLike[];

const text = (text: string): Part => ({ type: "text", text });
const reasoning = (text: string): Part => ({ type: "reasoning", text });
const call = (toolCallId: string, input: unknown = {}, toolName = "look"): Part => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input,
});
const result = (toolCallId: string, output: unknown = { type: "text", value: "seen" }): Part => ({
  type: "tool-result",
  toolCallId,
  toolName: "look",
  output,
});
const request = (approvalId: string, toolCallId: string): Part => ({
  type: "tool-approval-request",
  approvalId,
  toolCallId,
});
const response = (approvalId: string): Part => ({
  type: "tool-approval-response",
  approvalId,
  approved: true,
});
const byProvider = (part: Part): Part => ({ ...part, providerExecuted: true });

const system = (content: string): ModelMessageLike => ({ role: "system", content });
const user = (content: string | Part[]): ModelMessageLike => ({ role: "user", content });
const assistant = (content: string | Part[]): ModelMessageLike => ({ role: "assistant", content });
const tool = (...content: Part[]): ModelMessageLike => ({ role: "tool", content });

const times = <T>(n: number, make: (at: number) => T): T[] => Array.from({ length: n }, (_, at) => make(at));
const each = (n: number, make: (at: number) => Messages): Messages => times(n, make).flat();
const calls = (n: number, idOf: (at: number) => string): Part[] => times(n, (at) => call(idOf(at)));
/** As long for each place. */
const mark = (at: number): string => String(at).padStart(6, "0");
const id = (at: number): string => `call-${mark(at)}`;
const same = (): string => "call";
// Made anew at each place, because processors know a message again.
const go = (): ModelMessageLike => user("Go");
const next = (): Messages => [user("And now?"), assistant("Now this.")];

/** Lists under other lists, as deep as a memory takes them, and as many of them as make up `n`. */
const deepest = 400;
function nested(depth: number): unknown {
  let value: unknown = "deep";
  for (let at = 0; at < depth; at++) value = at % 2 === 0 ? [value] : { in: value };
  return value;
}
function nestedOf(n: number): unknown {
  return times(Math.ceil(n / 20), () => nested(20));
}

const long = (n: number, one: string): string => one.repeat(20 * n);
const said = (content: string): Messages => [go(), assistant(content), user(content)];
/** The same text wherever one may stand. */
const everywhere = (content: string): Messages => [
  user([text(content), { type: "file", data: content, mediaType: "text/plain", filename: content }]),
  assistant([reasoning(content), text(content), call("a", { of: content }), call("b", content)]),
  tool(result("a", { type: "text", value: content }), result("b", { type: "json", value: [content] })),
  assistant(content),
];

/**
 * Conversations that somebody might send to find what grows faster than they do, of a size that grows as `n`.
 */
export const shapes: Readonly<Record<string, (n: number) => Messages>> = {
  "many questions": (n) => times(n, (at) => user(mark(at))),
  "many answers in a row": (n) => [go(), ...times(n, (at) => assistant(mark(at)))],
  "many turns": (n) => each(n, (at) => [user(mark(at)), assistant(mark(at))]),
  "the same message again and again": (n) => each(n, () => [go(), assistant("Done.")]),
  "many system messages": (n) => times(n, (at) => system(mark(at))),
  "many system messages between turns": (n) => each(n, (at) => [system(mark(at)), ...next()]),
  "empty messages": (n) => [...each(n, () => [user(""), assistant("")]), ...next()],
  "blank messages": (n) => [...each(n, () => [user(" \n"), assistant("\t")]), ...next()],

  "many calls of one answer": (n) => [
    go(),
    assistant(calls(n, id)),
    ...times(n, (at) => tool(result(id(at)))),
  ],
  "many calls, their results in one message": (n) => [
    go(),
    assistant(calls(n, id)),
    tool(...times(n, (at) => result(id(at)))),
    ...next(),
  ],
  "many calls, their results backwards": (n) => [
    go(),
    assistant(calls(n, id)),
    ...times(n, (at) => tool(result(id(n - 1 - at)))),
    ...next(),
  ],
  "many calls, their results backwards in one message": (n) => [
    go(),
    assistant(calls(n, id)),
    tool(...times(n, (at) => result(id(n - 1 - at)))),
    ...next(),
  ],
  "many calls that nothing answers": (n) => [go(), assistant(calls(n, id)), ...next()],
  "many calls one by one, then their results": (n) => [
    go(),
    ...times(n, (at) => assistant([call(id(at))])),
    ...times(n, (at) => tool(result(id(at)))),
    ...next(),
  ],
  "many calls one by one, each answered at once": (n) => [
    go(),
    ...each(n, (at) => [assistant([call(id(at))]), tool(result(id(at)))]),
  ],
  "many calls one by one, that nothing answers": (n) => [
    go(),
    ...times(n, (at) => assistant([call(id(at))])),
    ...next(),
  ],
  "every other call answered": (n) => [
    go(),
    assistant(calls(n, id)),
    ...times(n >> 1, (at) => tool(result(id(2 * at)))),
    ...next(),
  ],
  "calls one by one, every other answered": (n) => [
    go(),
    ...times(n, (at) => assistant([call(id(at))])),
    ...times(n >> 1, (at) => tool(result(id(2 * at)))),
    ...next(),
  ],
  "calls one by one, every other answered in one message": (n) => [
    go(),
    ...times(n, (at) => assistant([call(id(at))])),
    tool(...times(n >> 1, (at) => result(id(2 * at)))),
    ...next(),
  ],
  "calls that share an id, between others that nothing answers": (n) => [
    go(),
    ...times(n, (at) => assistant([call(at % 2 === 0 ? "call" : id(at))])),
    ...times(n >> 1, () => tool(result("call"))),
    ...next(),
  ],
  "texts between calls that nothing answers": (n) => [
    go(),
    ...each(n, (at) => [assistant([call(id(at))]), assistant("Wait.")]),
    ...next(),
  ],
  "results that come too late": (n) => [
    go(),
    assistant(calls(n, id)),
    ...next(),
    ...times(n, (at) => tool(result(id(at)))),
  ],
  "results before their calls": (n) => [
    go(),
    ...times(n, (at) => tool(result(id(at)))),
    assistant(calls(n, id)),
    ...next(),
  ],
  "results without calls": (n) => [go(), ...times(n, (at) => tool(result(id(at)))), ...next()],

  "calls of one answer that share an id": (n) => [
    go(),
    assistant(calls(n, same)),
    ...times(n, () => tool(result("call"))),
    ...next(),
  ],
  "calls that share an id, their results in one message": (n) => [
    go(),
    assistant(calls(n, same)),
    tool(...times(n, () => result("call"))),
    ...next(),
  ],
  "calls one by one that share an id, then their results": (n) => [
    go(),
    ...times(n, () => assistant([call("call")])),
    ...times(n, () => tool(result("call"))),
    ...next(),
  ],
  "calls of each turn that share an id": (n) =>
    each(n, (at) => [user(mark(at)), assistant([call("call")]), tool(result("call")), assistant("Done.")]),
  "calls that share an id, that nothing answers": (n) => [go(), assistant(calls(n, same)), ...next()],
  "calls of each turn that share an id, that nothing answers": (n) =>
    each(n, (at) => [user(mark(at)), assistant([call("call")])]),
  "results of one id that come too late": (n) => [
    go(),
    assistant(calls(n, same)),
    ...next(),
    ...times(n, () => tool(result("call"))),
  ],
  "results of one id before their calls": (n) => [
    go(),
    ...times(n, () => tool(result("call"))),
    ...times(n, () => assistant([call("call")])),
    ...next(),
  ],
  "results of one id without a call": (n) => [go(), ...times(n, () => tool(result("call"))), ...next()],
  "many results for one call": (n) => [
    go(),
    assistant([call("call")]),
    ...times(n, () => tool(result("call"))),
    ...next(),
  ],
  "many results for one call in one message": (n) => [
    go(),
    assistant([call("call")]),
    tool(...times(n, () => result("call"))),
    ...next(),
  ],
  "calls that the provider runs": (n) => [
    go(),
    assistant(times(n, (at) => [byProvider(call(id(at))), byProvider(result(id(at)))]).flat()),
    ...next(),
  ],
  "calls that the provider runs, of one id": (n) => [
    go(),
    assistant(times(n, () => [byProvider(call("call")), byProvider(result("call"))]).flat()),
    ...next(),
  ],

  "approvals of many calls": (n) => [
    go(),
    assistant([...calls(n, id), ...times(n, (at) => request(`approval-${mark(at)}`, id(at)))]),
    ...times(n, (at) => tool(response(`approval-${mark(at)}`))),
    ...times(n, (at) => tool(result(id(at)))),
  ],
  "approvals of one id": (n) => [
    go(),
    assistant([...calls(n, same), ...times(n, () => request("approval", "call"))]),
    ...times(n, () => tool(response("approval"))),
  ],
  "requests for approval one by one": (n) => [
    go(),
    assistant(calls(n, id)),
    ...times(n, (at) => assistant([request(`approval-${mark(at)}`, id(at))])),
    ...times(n, (at) => tool(response(`approval-${mark(at)}`), result(id(at)))),
  ],
  "approvals that come too late": (n) => [
    go(),
    assistant([...calls(n, id), ...times(n, (at) => request(`approval-${mark(at)}`, id(at)))]),
    ...next(),
    tool(...times(n, (at) => response(`approval-${mark(at)}`)), ...times(n, (at) => result(id(at)))),
  ],
  "requests for approval of calls one by one, that nobody answers": (n) => [
    go(),
    ...times(n, (at) => assistant([call(id(at)), request(`approval-${mark(at)}`, id(at))])),
    ...next(),
  ],
  "requests for approval apart from calls one by one": (n) => [
    go(),
    ...each(n, (at) => [assistant([call(id(at))]), assistant([request(`approval-${mark(at)}`, id(at))])]),
    ...next(),
  ],
  "approvals of calls one by one that share an id": (n) => [
    go(),
    ...times(n, (at) => assistant([call("call"), request(`approval-${mark(at)}`, "call")])),
    ...times(n, (at) => tool(response(`approval-${mark(at)}`))),
    ...next(),
  ],
  "approvals that nobody asked for": (n) => [
    go(),
    ...times(n, (at) => tool(response(`approval-${mark(at)}`))),
    ...next(),
  ],

  "many texts of one message": (n) => [
    user(times(n, (at) => text(mark(at)))),
    assistant(times(n, (at) => text(mark(at)))),
  ],
  "many empty texts of one message": (n) => [
    user(times(n, () => text(""))),
    assistant(times(n, () => text(" "))),
    ...next(),
  ],
  "many images of one message": (n) => [
    user(times(n, () => ({ type: "image", image: "iVBORw0KGgo=", mediaType: "image/png" }))),
  ],
  "many files of one name": (n) => [
    ...each(n, () => [
      user([{ type: "file", data: "JVBERi0=", mediaType: "application/pdf", filename: "a.pdf" }]),
      assistant("Read."),
    ]),
  ],
  "many files that the model made": (n) => [
    go(),
    assistant(times(n, () => ({ type: "file", data: "AAAA", mediaType: "image/png" }))),
    ...next(),
  ],
  "much reasoning of one answer": (n) => [
    go(),
    assistant([...times(n, (at) => reasoning(mark(at))), text("So.")]),
  ],
  "reasoning in a row": (n) => [
    go(),
    ...times(n, (at) => assistant([reasoning(mark(at))])),
    assistant("So."),
  ],
  "reasoning that leads to calls": (n) => [
    go(),
    ...each(n, (at) => [assistant([reasoning("Hm."), call(id(at))]), tool(result(id(at)))]),
  ],
  "parts of unknown kinds": (n) => [
    go(),
    assistant(
      times(n, (at) => ({ type: at % 2 === 0 ? "custom" : "unknown", kind: "own.part", of: mark(at) })),
    ),
    ...next(),
  ],

  "deep nesting": (n) => [
    go(),
    ...each(Math.ceil(n / 10), (at) => [
      assistant([call(id(at), nested(deepest))]),
      tool(result(id(at), { type: "json", value: nested(deepest) })),
    ]),
  ],
  "many lists in one call": (n) => [
    go(),
    assistant([call("call", nestedOf(n))]),
    tool(result("call", { type: "json", value: nestedOf(n) })),
  ],
  "many members in one call": (n) => {
    const members = Object.fromEntries(times(n, (at) => [`member ${mark(at)}`, mark(at)]));
    return [go(), assistant([call("call", members)]), tool(result("call", { type: "json", value: members }))];
  },
  "many parts of one result": (n) => [
    go(),
    assistant([call("call")]),
    tool(result("call", { type: "content", value: times(n, (at) => text(mark(at))) })),
  ],
  "many tools of wrong names": (n) => [
    go(),
    assistant(times(n, (at) => call(id(at), {}, `Werkzeug Nr. ${mark(at)} für alles!`))),
    ...times(n, (at) => tool(result(id(at)))),
  ],
  "calls of wrong ids": (n) => [
    go(),
    ...each(n, (at) => [assistant([call(`Nr. ${mark(at)}!`)]), tool(result(`Nr. ${mark(at)}!`))]),
  ],
  "a long id": (n) => [go(), assistant([call(long(n, "a"))]), tool(result(long(n, "a"))), ...next()],
  "a tool of a long name": (n) => [
    go(),
    assistant([call("call", {}, long(n, "a"))]),
    tool(result("call")),
    ...next(),
  ],

  "one letter": (n) => said(long(n, "a")),
  "one letter everywhere": (n) => everywhere(long(n, "a")),
  "one blank": (n) => said(long(n, " ")),
  "line breaks": (n) => said(long(n, "\n")),
  "line breaks everywhere": (n) => everywhere(long(n, "\r\n")),
  "digits everywhere": (n) => everywhere(long(n, "7")),
  "dots and slashes everywhere": (n) => everywhere(long(n, "./")),
  "quotes and backslashes everywhere": (n) => everywhere(long(n, '"\\')),
  "brackets everywhere": (n) => everywhere(long(n, "[")),
  "lists as text": (n) => everywhere(long(n, "[") + long(n, "]")),
  "objects as text": (n) => everywhere(`[${long(n, "{},")}0]`),
  "emoji everywhere": (n) => everywhere(long(n, "👩‍👩‍👧")),
  "combining marks": (n) => said(`a${long(n, "\u0301")}`),
  "letters without spaces": (n) => said(long(n, "อ")),
  "lone surrogates": (n) => said(long(n, "\ud800")),
  "control characters": (n) => said(long(n, "\u0000")),
  "a key that begins again and again": (n) => said(long(n, "sk-")),
  "an address of data": (n) => everywhere(`data:image/png;base64,${long(n, "A")}`),
  "an address of data that never begins": (n) => everywhere(`data:${long(n, "; ")}`),
};
