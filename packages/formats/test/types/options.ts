/** Compiled by the type check, never run: what the options of formats, conversions and profiles refuse. */
import { modelMessageFormat } from "@turnkeep/core";
import { uiMessageConversion, uiMessageFormat } from "../../src/ai-sdk.ts";
import { convert } from "../../src/convert.ts";
import { openaiConversion } from "../../src/openai.ts";
import { openai, profileOf, validate } from "../../src/profiles.ts";

export function options(): void {
  uiMessageFormat({ convertDataPart: undefined });
  // @ts-expect-error a misspelt option
  uiMessageFormat({ convertDataParts: () => undefined });
  uiMessageConversion({ generateId: (index) => `m-${index}` });
  // @ts-expect-error a misspelt option
  uiMessageConversion({ generateID: () => "m" });
  // @ts-expect-error an id is a text
  uiMessageConversion({ generateId: (index) => index });
  // @ts-expect-error to which format?
  convert([], { from: openaiConversion });
  // @ts-expect-error a misspelt option
  convert([], { from: openaiConversion, to: openaiConversion, into: openaiConversion });
  // @ts-expect-error of which format?
  validate([], openai, {});
  // @ts-expect-error a misspelt option
  validate([], openai, { format: modelMessageFormat, formats: modelMessageFormat });
}

const source = "https://example.com";

export function rules(): void {
  profileOf("mine", [{ rule: "last-message", paused: true, source }]);
  // @ts-expect-error a misspelt field
  profileOf("mine", [{ rule: "last-message", pause: true, source }]);
  // @ts-expect-error how many?
  profileOf("mine", [{ rule: "images", source }]);
  // @ts-expect-error a rule without its source
  profileOf("mine", [{ rule: "not-empty" }]);
}
