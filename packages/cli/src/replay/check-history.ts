import type { TokenCounter } from "@turnkeep/core";
import type { Place } from "../places/folder.ts";
import { messageId, openMemory } from "./conversation-run.ts";
import { formats } from "./message-kind.ts";
import type { Settings } from "./options.ts";
import { type Conversation, readConversations } from "./read-conversations.ts";
import type { CheckReport } from "./report.ts";
import { turnsOf } from "./turns.ts";

type Counts = Omit<CheckReport, "faults" | "conversations">;

/** Reads every conversation's history back from the store and compares it with the files. */
export async function checkHistory(
  settings: Settings,
  place: Place,
  counter: TokenCounter,
): Promise<CheckReport> {
  const faults: { id: string; problem: string }[] = [];
  let total: Counts = { turns: 0, messages: 0, repeated: 0, found: 0, live: 0, evicted: 0, superseded: 0 };
  let conversations = 0;
  for await (const { conversation } of readConversations(settings.files)) {
    if (conversation === undefined) continue;
    conversations += 1;
    const { counts, problem } = await checkConversation(conversation, settings, place, counter);
    total = sum(total, counts);
    if (problem !== undefined) faults.push({ id: conversation.id, problem });
  }
  return { conversations, ...total, faults };
}

async function checkConversation(
  conversation: Conversation,
  settings: Settings,
  place: Place,
  counter: TokenCounter,
): Promise<{ readonly counts: Counts; readonly problem: string | undefined }> {
  const format = formats[conversation.kind];
  const expected = withoutRepeatedSystem(conversation);
  const states = { live: 0, evicted: 0, superseded: 0 };
  let found = 0;
  let at = 0;
  let problem: string | undefined;
  const memory = openMemory(conversation, settings, place, counter);
  for await (const page of memory.historyPages({ limit: 500 })) {
    for (const error of page.errors) problem ??= error.message;
    for (const { id, state, message } of page.messages) {
      states[state] += 1;
      const wanted = expected[at];
      at += 1;
      if (wanted === undefined) problem ??= `history holds ${id}, which is not in the file`;
      else if (messageId(wanted) !== id) problem ??= `history has ${id} where ${messageId(wanted)} belongs`;
      else if (!format.equals(conversation.messages[wanted], message)) problem ??= `${id} has other content`;
      else found += 1;
    }
  }
  await memory.close();
  const missing = expected[at];
  if (missing !== undefined) problem ??= `history ends before ${messageId(missing)}`;
  const messages = conversation.messages.length;
  const turns = turnsOf(conversation.messages, format).length;
  return { counts: { turns, messages, repeated: messages - expected.length, found, ...states }, problem };
}

/** A system message equal to the current one is no new message: a memory ignores it. */
function withoutRepeatedSystem({ kind, messages }: Conversation): readonly number[] {
  const format = formats[kind];
  let current: unknown;
  return [...messages.keys()].filter((index) => {
    const message = messages[index];
    if (format.role(message) !== "system") return true;
    const repeated = current !== undefined && format.equals(current, message);
    current = message;
    return !repeated;
  });
}

function sum(a: Counts, b: Counts): Counts {
  return {
    turns: a.turns + b.turns,
    messages: a.messages + b.messages,
    repeated: a.repeated + b.repeated,
    found: a.found + b.found,
    live: a.live + b.live,
    evicted: a.evicted + b.evicted,
    superseded: a.superseded + b.superseded,
  };
}
