import type { MessageFormat } from "@turnkeep/core";
import { setsSomething } from "./about.ts";
import { methodOf } from "./method-of.ts";

/** So that the model tells what the application says from what the user says. */
const mark = "System note: ";

/** What system messages say, as a message of the user's; `undefined` if they say nothing. */
export function noteOf<M>(messages: readonly M[], format: MessageFormat<M>): M | undefined {
  const said = messages.map((message) => textOf(message, format)).filter((text) => text.trim() !== "");
  if (said.length === 0) return undefined;
  return methodOf(format, "textMessage")("user", said.map((text) => `${mark}${text}`).join("\n\n"));
}

/** Without what it sets: that is for the provider alone. */
function textOf<M>(message: M, format: MessageFormat<M>): string {
  const setting = setsSomething(message, format) ? format.inForce?.([message])[0] : undefined;
  if (setting === message) return "";
  const set = new Set(setting === undefined ? [] : textsOf(setting, format));
  return textsOf(message, format)
    .filter((text) => !set.has(text))
    .join("\n");
}

function textsOf<M>(message: M, format: MessageFormat<M>): string[] {
  return format
    .pieces(message)
    .flatMap((piece) => (piece.type === "text" && piece.of === "content" ? [piece.text] : []));
}
