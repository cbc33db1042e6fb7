import { AIMessage, HumanMessage, ToolMessage, trimMessages } from "@langchain/core/messages";
import { toLangChain } from "./window.mjs";

/** The roles that `trimMessages` leaves of a question, a call, its result, an answer and a question, for each limit. */
export function trimmed() {
  const list = [
    new HumanMessage("Weather in Oslo?"),
    new AIMessage({ content: "", tool_calls: [{ id: "call-1", name: "weather", args: { city: "Oslo" } }] }),
    new ToolMessage({ tool_call_id: "call-1", content: "4 °C" }),
    new AIMessage("4 °C."),
    new HumanMessage("And in Bergen?"),
  ];
  return Promise.all(
    list.map(async (_, index) => {
      const options = { maxTokens: index + 1, strategy: "last", tokenCounter: (given) => given.length };
      return (await trimMessages(list, options)).map((message) => message.getType());
    }),
  );
}

/** A conversation through `trimMessages`: which of the messages so far it shows, by their numbers. */
export function sliding(maxTokens, tokensOf) {
  const list = [];
  const tokens = [];
  const options = {
    maxTokens,
    tokenCounter: (given) => given.reduce((sum, { id }) => sum + tokens[Number(id)], 0),
    strategy: "last",
    includeSystem: true,
  };
  return {
    add(message) {
      tokens.push(tokensOf(message));
      list.push(toLangChain(message, String(list.length)));
    },
    shown: async () => (await trimMessages(list, options)).map(({ id }) => Number(id)),
  };
}
