/**
 * Converts messages of one format to another, with a report of what did not survive.
 *
 * @module
 */
export { type Conversion, type Converted, convert } from "./conversion/convert.ts";
export type { Loss, Losses } from "./conversion/losses.ts";
export type {
  Medium,
  NeutralCall,
  NeutralMessage,
  NeutralPart,
  NeutralRequest,
  NeutralResponse,
  NeutralResult,
  Output,
  OutputPart,
  ProviderSettings,
  SourcedPart,
  WithOptions,
} from "./conversion/neutral.ts";
export { modelMessageConversion } from "./model-message/conversion.ts";
