import { getToolName, isToolUIPart, type UIMessage } from "ai";

/** What a message says, with the names of the tools that it calls. */
export function textOf({ parts }: UIMessage): string {
  const texts = parts.map((part) =>
    part.type === "text" ? part.text : isToolUIPart(part) ? `[${getToolName(part)}]` : "",
  );
  return texts.join(" ").trim();
}
