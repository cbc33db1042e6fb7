import { type Chat, useChat } from "@ai-sdk/react";
import type { MessagePage } from "@turnkeep/ai-sdk/client";
import { useCallback, useEffect, useRef, useState } from "react";
import { load, loadEarlier, textOf, withRefused } from "./chats.ts";
import { onOtherTabs, tellTabs } from "./tabs.ts";
import { type ChatMessage, transport } from "./transport.ts";

type Page = Omit<MessagePage<ChatMessage>, "messages">;

/** What belongs to the messages of a chat, which stay when another chat is looked at. */
const pages = new WeakMap<Chat<ChatMessage>, Page>();

/** A chat as its page shows it, and what can be done with it. `onChange` is told whenever an answer begins or ends. */
export function useConversation(chat: Chat<ChatMessage>, onChange: () => void) {
  const { messages, status, error } = useChat({ chat });
  const [draft, setDraft] = useState("");
  const [{ before, versions = {} }, showPage] = useState<Page>(() => pages.get(chat) ?? {});
  const [loadError, setLoadError] = useState<Error>();
  const isBegun = location.hash.slice(1) === chat.id;
  /** What this tab begins itself, the server does not have at once. */
  const [isThere] = useState(isBegun);

  const setPage = useCallback(
    ({ before, versions }: Page) => {
      const page = { ...(before !== undefined && { before }), ...(versions && { versions }) };
      pages.set(chat, page);
      showPage(page);
    },
    [chat],
  );

  const reload = useCallback(async () => {
    try {
      const page = await load(chat);
      if (page !== undefined) setPage(page);
      setLoadError(undefined);
    } catch (error) {
      setLoadError(error as Error);
    }
  }, [chat, setPage]);

  /** A question that was refused is not on the server: it goes back to where it was written. */
  const recover = useCallback(async () => {
    const asked = chat.lastMessage;
    await reload();
    if (asked?.role === "user" && !chat.messages.some((message) => isSame(message, asked)))
      setDraft((draft) => withRefused(draft, textOf(asked)));
  }, [chat, reload]);

  useEffect(() => {
    if (isThere) void reload();
  }, [isThere, reload]);

  useEffect(
    () =>
      onOtherTabs((id) => {
        if (isBegun && (id ?? chat.id) === chat.id) void reload();
      }),
    [chat, isBegun, reload],
  );

  useEffect(() => {
    if (error !== undefined) void recover();
  }, [error, recover]);

  const shownStatus = useRef(status);
  useEffect(() => {
    if (shownStatus.current === status) return;
    shownStatus.current = status;
    tellTabs(chat.id);
    onChange();
    if (status !== "ready") return;
    // What was edited or answered again has versions now.
    void transport.history(chat.id).then(
      (page) => {
        if (chat.status !== "ready") return;
        // Somebody has gone on meanwhile, or the question was stopped before it was stored.
        if (page.messages.at(-1)?.id !== chat.lastMessage?.id) return void recover();
        const shown = pages.get(chat);
        setPage({ ...shown, versions: { ...shown?.versions, ...page.versions } });
      },
      () => undefined,
    );
    // The title of a chat is made when its first answer is stored.
    const later = setTimeout(onChange, 1_000);
    return () => clearTimeout(later);
  }, [chat, status, onChange, recover, setPage]);

  return {
    messages,
    status,
    versions,
    problem: error ?? loadError,
    draft,
    setDraft,
    hasEarlier: before !== undefined,
    ask(text: string, messageId?: string) {
      history.replaceState(null, "", `#${chat.id}`);
      setLoadError(undefined);
      void chat.sendMessage({ text, ...(messageId !== undefined && { messageId }) });
    },
    async showVersion(versionId: string) {
      try {
        const page = await transport.restoreVersion(chat.id, versionId);
        chat.messages = page.messages;
        setPage(page);
        tellTabs(chat.id);
        onChange();
      } catch (error) {
        setLoadError(error as Error);
      }
    },
    async showEarlier() {
      try {
        const page = await loadEarlier(chat, before as number);
        if (page !== undefined)
          setPage({ ...page, versions: { ...page.versions, ...pages.get(chat)?.versions } });
      } catch (error) {
        setLoadError(error as Error);
      }
    },
    loadAgain() {
      chat.clearError();
      void recover();
    },
  };
}

function isSame(one: ChatMessage, other: ChatMessage): boolean {
  return one.id === other.id && textOf(one) === textOf(other);
}
