import { TurnkeepError } from "@turnkeep/core";
import { quoted } from "@turnkeep/core/store-kit";
import { AssistantError } from "./errors.ts";

export function deleted(memoryId: string, cause?: TurnkeepError): AssistantError {
  return new AssistantError(
    "MEMORY_DELETED",
    `Memory ${quoted(memoryId)} was deleted (clear, erase), or expired, under a turn or a chat that waited for one. Nothing more was stored.`,
    { cause, details: { memoryId } },
  );
}

export function questionGone(memoryId: string, id: string, cause: TurnkeepError): AssistantError {
  return new AssistantError(
    "QUESTION_GONE",
    `Memory ${quoted(memoryId)}: the question ${quoted(id)}, or a step of its turn, was taken back meanwhile (rewind, remove, ` +
      "set), or by another process whose run of the turn failed. Nothing more of the turn was stored. If it still counts, ask again.",
    { cause, details: { memoryId } },
  );
}

export function conflict(memoryId: string, id: string, what: string): TurnkeepError {
  return new TurnkeepError(
    "ID_CONFLICT",
    `Memory ${quoted(memoryId)}: the message ${quoted(id)} ${what}. Send the message with another id.`,
    { details: { memoryId, messageIds: [id] } },
  );
}

export function overtaken(memoryId: string, id: string, cause: unknown): TurnkeepError {
  return new TurnkeepError(
    "ID_CONFLICT",
    `Memory ${quoted(memoryId)}: another process runs the turn of message ${quoted(id)} too, and stored ` +
      "its next step first. Send the same again, with the same id: it goes on from what is stored.",
    { cause, details: { memoryId, messageIds: [id] } },
  );
}
