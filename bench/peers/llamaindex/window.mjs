import { Settings } from "@llamaindex/core/global";
import { createMemory } from "llamaindex";

/** Longer texts are several messages joined: a new message makes each of them a new text. */
const longestKept = 4_000;
const known = new Map();

/**
 * `Memory` with all of its limit for messages, and the tokenizer that it is given in place of its own, which is slower.
 * It counts the messages of a view joined, anew with each one that it takes in; what a single message counts is known.
 */
export function open({ messages, maxTokens, countText }) {
  Settings.tokenizer = {
    encode(text) {
      let length = known.get(text);
      if (length === undefined) {
        length = countText(text);
        if (text.length <= longestKept) known.set(text, length);
      }
      return { length };
    },
    decode() {
      throw new Error("A memory decodes nothing");
    },
  };
  const memory = createMemory(messages.map(convert), { tokenLimit: maxTokens, shortTermTokenLimitRatio: 1 });
  return {
    convert,
    async step(message) {
      await memory.add(message);
      return (await memory.getLLM()).length;
    },
  };
}

function convert({ role, content }) {
  if (typeof content === "string") return { role, content };
  if (role === "tool") {
    const [{ toolCallId, output }] = content;
    const result = JSON.stringify(output.value);
    return {
      role: "user",
      content: result,
      options: { toolResult: { id: toolCallId, result, isError: false } },
    };
  }
  const toolCall = content.flatMap((part) =>
    part.type === "tool-call" ? [{ id: part.toolCallId, name: part.toolName, input: part.input }] : [],
  );
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  return { role, content: text, options: { toolCall } };
}
