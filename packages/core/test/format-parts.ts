import { isTurnkeepError, type ModelMessageLike, type TurnkeepError } from "../src/index.ts";

export const assistant = (...content: unknown[]): ModelMessageLike =>
  ({ role: "assistant", content }) as never;
export const tool = (...content: unknown[]): ModelMessageLike => ({ role: "tool", content }) as never;
export const userParts = (...content: unknown[]): ModelMessageLike => ({ role: "user", content }) as never;

export const text = { type: "text", text: "secret" };
export const blank = { type: "text", text: " \n\t" };
export const thought = { type: "reasoning", text: "hm" };
export const thoughtFile: { type: string; data: Uint8Array; mediaType: string } = {
  type: "reasoning-file",
  data: new Uint8Array(3),
  mediaType: "image/png",
};
export const image: { type: string; image: Uint8Array } = { type: "image", image: new Uint8Array(5) };
export const file = { type: "file", data: "AAAA", mediaType: "application/pdf" };
export const call = (id: string): object => ({
  type: "tool-call",
  toolCallId: id,
  toolName: `t-${id}`,
  input: { a: 1 },
});
export const result = (id: string, output: object = { type: "text", value: "ok" }): object => ({
  type: "tool-result",
  toolCallId: id,
  toolName: `t-${id}`,
  output,
});
export const request = (id: string): object => ({
  type: "tool-approval-request",
  approvalId: `a-${id}`,
  toolCallId: id,
});
export const response = (id: string): object => ({
  type: "tool-approval-response",
  approvalId: `a-${id}`,
  approved: true,
});

/** The error of ours that is thrown; fails if there is none, or another one. */
export function thrown(run: () => unknown): TurnkeepError {
  try {
    run();
  } catch (error) {
    if (isTurnkeepError(error)) return error;
    throw error;
  }
  throw new Error("Nothing was thrown.");
}
