/** What the model would be shown of a chat, of `memory.explain()`. */
export interface Context {
  readonly tokens: number;
  readonly maxTokens: number;
  readonly messages: readonly ContextMessage[];
}

export interface ContextMessage {
  readonly role: string;
  /** Its beginning. */
  readonly text: string;
  /** `shown`, or what became of it instead. */
  readonly state: string;
  /** What caused that, such as `window`. */
  readonly by?: string | undefined;
  readonly tokens: number;
}
