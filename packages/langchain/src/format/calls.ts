import { append, type CallShape, isObject, type Visitor, withMember } from "@turnkeep/core/format-kit";
import { isEcho } from "./blocks.ts";
import type { Block, Call, Data } from "./dict.ts";

const call: CallShape<Call> = { ref: ({ id, name }) => ({ id, name }), id: "id", name: "name" };

/** The calls of an answer, and wherever else the answer shows them: in its content, and as the provider gave them. */
export function visitCalls(data: Data, at: Visitor): Data {
  const calls = data.tool_calls ?? [];
  const kept: (Call | undefined)[] = [];
  for (const one of calls) kept.push(visitCall(one, at));
  return kept.every((one, index) => one === calls[index]) ? data : withCalls(data, calls, kept);
}

function visitCall(one: Call, at: Visitor): Call | undefined {
  const kept = at.call(one, call);
  if (kept === undefined) return undefined;
  at.name(one.name);
  return at.text(kept, "args", "tool-call", "json");
}

function withCalls(data: Data, before: readonly Call[], after: readonly (Call | undefined)[]): Data {
  const now = { ...data, tool_calls: after.filter((one) => one !== undefined) };
  const { content, additional_kwargs: given = {}, tool_call_chunks: chunks } = data;
  if (typeof content !== "string") {
    const follow = follower(before, after);
    now.content = content.flatMap((block) => (isEcho(block) ? follow(block) : [block]));
  }
  if (Array.isArray(given.tool_calls)) {
    now.additional_kwargs = { ...given, tool_calls: given.tool_calls.flatMap(follower(before, after)) };
  }
  if (chunks !== undefined) now.tool_call_chunks = chunks.flatMap(follower(before, after));
  return now;
}

/** Makes of what shows a call what became of that call. Of several with one id the nth belongs to the nth. */
function follower(before: readonly Call[], after: readonly (Call | undefined)[]) {
  const indexes = new Map<unknown, number[]>();
  before.forEach(({ id }, index) => {
    append(indexes, id, index);
  });
  return (echo: Block): Block[] => {
    const index = indexes.get(echo.id ?? echo.call_id)?.shift();
    if (index === undefined || after[index] === before[index]) return [echo];
    const now = after[index];
    return now === undefined ? [] : [echoOf(now, echo, now.args === before[index]?.args)];
  };
}

function echoOf({ id, name, args }: Call, echo: Block, sameArgs: boolean): Block {
  const named = withMember(echo, "call_id" in echo ? "call_id" : "id", id);
  if (isObject(echo.function)) {
    const told = sameArgs ? {} : { arguments: JSON.stringify(args) };
    return { ...named, function: { ...echo.function, name, ...told } };
  }
  if (sameArgs) return { ...named, name };
  const member = ["arguments", "input"].find((one) => one in echo) ?? "args";
  return { ...named, name, [member]: typeof echo[member] === "string" ? JSON.stringify(args) : args };
}

interface WithFunctionCall {
  readonly function_call: { readonly name: string; readonly arguments?: unknown };
}

/** A function's name pairs its call with its result. The blank keeps the id apart from every id that a provider gives. */
const idPrefix = "function_call ";

export function functionCallId(name: string): string {
  return idPrefix + name;
}

export function isFunctionCallId(id: string): boolean {
  return id.startsWith(idPrefix);
}

const functionCall: CallShape<WithFunctionCall> = {
  ref: ({ function_call: { name } }) => ({ id: functionCallId(name), name }),
  name: (given, rename) =>
    withMember(
      given,
      "function_call",
      withMember(given.function_call, "name", rename(given.function_call.name)),
    ),
};

/** OpenAI's older call, which has no id. */
export function visitFunctionCall(data: Data, at: Visitor): Data {
  const given = data.additional_kwargs as WithFunctionCall | undefined;
  if (!isObject(given?.function_call) || typeof given.function_call.name !== "string") return data;
  const kept = at.call(given, functionCall);
  if (kept === undefined) {
    const { function_call: _, ...rest } = given;
    return { ...data, additional_kwargs: rest };
  }
  at.name(given.function_call.name);
  const told = at.text(kept.function_call, "arguments", "tool-call");
  return withMember(data, "additional_kwargs", withMember(kept, "function_call", told));
}
