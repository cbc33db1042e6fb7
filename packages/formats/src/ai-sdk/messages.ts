/**
 * What the format holds: the AI SDK's `UIMessage` of major 6 and of major 7, with any metadata, data parts and tools,
 * and anything of that shape. Parts of a type that is not known here are kept as they are.
 */
export interface UIMessageLike {
  id: string;
  role: "system" | "user" | "assistant";
  metadata?: unknown;
  parts: UIMessagePartLike[];
}

/** A part by its type. */
export interface UIMessagePartLike {
  type: string;
}

/** A part of the application's own: its type begins with `data-`. */
export interface UIDataPartLike {
  type: `data-${string}`;
  id?: string;
  data: unknown;
}

/**
 * What a data part becomes for the model, if anything. Written as a method's type, so that a function of the
 * application's own data parts fits.
 */
export type ConvertDataPart = { convert(part: UIDataPartLike): unknown }["convert"];
