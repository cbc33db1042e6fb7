/**
 * A chat to begin with: what `npm create turnkeep-chat` does, as a function.
 *
 * @module
 */
export { CreateError, createChat } from "./create-chat.ts";
