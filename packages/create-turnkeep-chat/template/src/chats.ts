import { Chat } from "@ai-sdk/react";
import type { MessagePage } from "@turnkeep/ai-sdk/client";
import { lastAssistantMessageIsCompleteWithApprovalResponses as isDecided } from "ai";
import { type ChatMessage, statusOf, transport } from "./transport.ts";

/** Kept outside of the components: `useChat` stops the answer of a chat that it made when its component goes away. */
const chats = new Map<string, Chat<ChatMessage>>();

export function chatOf(id: string): Chat<ChatMessage> {
  const known = chats.get(id);
  if (known !== undefined) return known;
  const chat = new Chat<ChatMessage>({ id, transport });
  chats.set(id, chat);
  return chat;
}

export function isBusy({ status }: Pick<Chat<ChatMessage>, "status">): boolean {
  return status === "submitted" || status === "streaming";
}

/** What a message says, as it was written. */
export function textOf({ parts }: ChatMessage): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

/**
 * Notes what the user says of a call, and sends it once each call that waits has its decision. What was decided elsewhere
 * the server has: `sendAutomaticallyWhen` would send that too, where an answer that is followed ends.
 */
export async function decide(chat: Chat<ChatMessage>, id: string, approved: boolean): Promise<void> {
  await chat.addToolApprovalResponse({ id, approved });
  if (!isBusy(chat) && isDecided(chat)) await chat.sendMessage();
}

/** Shows what the server has, and follows an answer that is being made; nothing while this tab has one made. */
export async function load(chat: Chat<ChatMessage>): Promise<MessagePage<ChatMessage> | undefined> {
  if (isBusy(chat)) return undefined;
  const page = await transport.history(chat.id).catch((error: unknown) => {
    if (statusOf(error) === 404 && !isBusy(chat)) chat.messages = [];
    throw error;
  });
  // What was said meanwhile is newer than that.
  if (isBusy(chat)) return undefined;
  chat.messages = page.messages;
  if (page.messages.at(-1)?.metadata?.status === "streaming") void chat.resumeStream();
  return page;
}

/** Puts the page before in front. Nothing if other messages are shown by then, as after a second click. */
export async function loadEarlier(
  chat: Chat<ChatMessage>,
  before: number,
): Promise<MessagePage<ChatMessage> | undefined> {
  const first = chat.messages[0]?.id;
  const page = await transport.history(chat.id, { before });
  if (chat.messages[0]?.id !== first) return undefined;
  chat.messages = [...page.messages, ...chat.messages];
  return page;
}

/** A text that was refused, in front of what is written meanwhile. */
export function withRefused(draft: string, text: string): string {
  if (`${draft}\n`.startsWith(`${text}\n`)) return draft;
  return draft.trim() === "" ? text : `${text}\n${draft}`;
}
