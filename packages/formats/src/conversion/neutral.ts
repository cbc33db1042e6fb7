import type { Role } from "@turnkeep/core";

/**
 * What converters hand to each other: messages in the shape of core's `ModelMessage`, with media, results and options
 * in one form each. Every part knows the message that it came from, and what it was there, so that a loss names both.
 */
export interface NeutralMessage {
  readonly role: Role;
  readonly parts: readonly SourcedPart[];
}

/** A part, with where it comes from. */
export interface SourcedPart {
  /** The message that it came from, by its place in the list. */
  readonly index: number;
  /** The part's own name in its format: a part's type, a member's name. */
  readonly kind: string;
  readonly part: NeutralPart;
}

export function sourced({ index }: { readonly index: number }, kind: string, part: NeutralPart): SourcedPart {
  return { index, kind, part };
}

/** One piece of a message. */
export type NeutralPart =
  | ({ readonly type: "text"; readonly text: string } & WithOptions)
  | ({ readonly type: "media"; readonly medium: Medium } & WithOptions)
  | ({ readonly type: "reasoning"; readonly text: string } & WithOptions)
  | ({ readonly type: "reasoning-media"; readonly medium: Medium } & WithOptions)
  | NeutralCall
  | NeutralResult
  | NeutralRequest
  | NeutralResponse
  | ({ readonly type: "custom"; readonly name: string } & WithOptions);

/** A tool call. */
export interface NeutralCall extends WithOptions {
  readonly type: "call";
  readonly id: string;
  readonly name: string;
  /** What JSON holds; a text where the model gave no JSON. */
  readonly input: unknown;
  /** The provider runs the call; its result stands in the assistant's message. */
  readonly providerExecuted?: boolean;
}

/** The result of the call with that id. */
export interface NeutralResult extends WithOptions {
  readonly type: "result";
  readonly id: string;
  /** Absent where the format does not tell it. */
  readonly name?: string;
  readonly output: Output;
}

/** The members of an approval are the SDK's. */
export interface NeutralRequest {
  readonly type: "request";
  readonly approvalId: string;
  readonly callId: string;
  readonly more: Readonly<Record<string, unknown>>;
}

/** The user's answer to the request with that id. `more` has the other members of the SDK's part. */
export interface NeutralResponse {
  readonly type: "response";
  readonly approvalId: string;
  readonly approved: boolean;
  readonly more: Readonly<Record<string, unknown>>;
}

/** What a tool returned, or why it did not. */
export interface Output {
  readonly value:
    | { readonly type: "text"; readonly text: string }
    | { readonly type: "json"; readonly json: unknown }
    | { readonly type: "content"; readonly content: readonly OutputPart[] };
  readonly failed?: "error" | "denied";
}

/** A part of a result of several parts. */
export type OutputPart =
  | ({ readonly type: "text"; readonly text: string } & WithOptions)
  | ({ readonly type: "media"; readonly medium: Medium } & WithOptions);

/** A part that a provider may have settings for. */
export interface WithOptions {
  /** What only one provider knows, under the names that the AI SDK's packages give it. */
  readonly options?: ProviderSettings;
}

/** Settings by the provider's name. */
export type ProviderSettings = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** An image or a file, by the one way in which it is at hand. */
export type Medium = {
  /** As exactly as it is known: `image/png`, `image/*`, or absent. */
  readonly mediaType?: string;
  readonly filename?: string;
} & (
  | { readonly base64: string }
  | { readonly url: string }
  | { readonly text: string }
  /** What a provider keeps, by the provider's name. */
  | { readonly reference: Readonly<Record<string, string>> }
);

/** The settings that a part carries; none where they are no settings by provider. */
export function optionsOf(value: unknown): WithOptions {
  const isSettings = (member: unknown): boolean => typeof member === "object" && member !== null;
  if (!isSettings(value)) return {};
  const entries = Object.entries(value as object).filter(([, settings]) => isSettings(settings));
  return entries.length > 0 ? { options: Object.fromEntries(entries) as ProviderSettings } : {};
}
