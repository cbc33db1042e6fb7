/**
 * Chat memory over the AI SDK's UI messages.
 *
 * @module
 */
export { type UIMessageConversionOptions, uiMessageConversion } from "./ai-sdk/conversion.ts";
export { type UIMessageFormatOptions, uiMessageFormat } from "./ai-sdk/format.ts";
export type { ConvertDataPart, UIDataPartLike, UIMessageLike, UIMessagePartLike } from "./ai-sdk/messages.ts";
export { type UIMessage4Like, uiMessagesOfVersion4 } from "./ai-sdk/version-4.ts";
