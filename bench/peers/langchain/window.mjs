import { AIMessage, HumanMessage, SystemMessage, ToolMessage, trimMessages } from "@langchain/core/messages";

/**
 * `trimMessages` over the whole list, as its documentation shows it for chat histories. The counts of messages are kept
 * by their ids, since it hands copies to the counter. In the mode `memoised` the counter adds all messages that it is
 * given, as documented; in the mode `stopping` it adds no further once the limit is passed, which is enough to answer.
 */
export function open({ messages, counts, maxTokens, count, mode }) {
  const known = new Map();
  const originals = new Map();
  let next = 0;
  const convert = (message) => {
    const id = String(next++);
    originals.set(id, message);
    return toLangChain(message, id);
  };
  const list = messages.map((message, index) => {
    known.set(String(index), counts[index]);
    return convert(message);
  });
  const tokensOf = ({ id }) => {
    let tokens = known.get(id);
    if (tokens === undefined) {
      tokens = count(originals.get(id));
      known.set(id, tokens);
    }
    return tokens;
  };
  const enough = mode === "stopping" ? maxTokens : Number.POSITIVE_INFINITY;
  const tokenCounter = (given) => {
    let tokens = 0;
    for (const message of given) {
      tokens += tokensOf(message);
      if (tokens > enough) break;
    }
    return tokens;
  };
  const options = { maxTokens, tokenCounter, strategy: "last", includeSystem: true };
  return {
    convert,
    async step(message) {
      list.push(message);
      return (await trimMessages(list, options)).length;
    },
  };
}

export function toLangChain({ role, content }, id) {
  if (role === "system") return new SystemMessage({ id, content });
  if (role === "user") return new HumanMessage({ id, content });
  if (role === "tool") {
    const [{ toolCallId, toolName, output }] = content;
    return new ToolMessage({
      id,
      tool_call_id: toolCallId,
      name: toolName,
      content: JSON.stringify(output.value),
    });
  }
  if (typeof content === "string") return new AIMessage({ id, content });
  return new AIMessage({
    id,
    content: content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""),
    tool_calls: content.flatMap((part) =>
      part.type === "tool-call" ? [{ id: part.toolCallId, name: part.toolName, args: part.input }] : [],
    ),
  });
}
