/**
 * What the format holds: the AI SDK's `UIMessage` of majors 5, 6 and 7, with any metadata, data parts and tools,
 * and anything of that shape. Parts of unknown types are kept as they are.
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

/** A part defined by the application: its type begins with `data-`. */
export interface UIDataPartLike {
  type: `data-${string}`;
  id?: string;
  data: unknown;
}

/**
 * Converts a data part for the model; `undefined` if the model gets none. Declared through a method type, so that a
 * function of the application's own data parts fits.
 */
export type ConvertDataPart = { convert(part: UIDataPartLike): unknown }["convert"];
