import { type Chat, useChat } from "@ai-sdk/react";
import { APICallError } from "ai";
import { useCallback, useEffect, useRef, useState } from "react";
import { isBusy, load } from "./chats.ts";
import { Composer } from "./composer.tsx";
import { ContextPanel } from "./context-panel.tsx";
import { Message } from "./message.tsx";
import { onOtherTabs, tellTabs } from "./tabs.ts";
import { type ChatMessage, transport } from "./transport.ts";

interface Props {
  readonly chat: Chat<ChatMessage>;
  /** Told whenever an answer begins or ends. */
  readonly onChange: () => void;
}

export function Conversation({ chat, onChange }: Props) {
  const { messages, status, error, sendMessage, regenerate, stop, addToolApprovalResponse } = useChat({
    chat,
  });
  const [draft, setDraft] = useState("");
  const [before, setBefore] = useState<number>();
  const [loadError, setLoadError] = useState<Error>();
  const isBegun = location.hash.slice(1) === chat.id;
  const problem = error ?? loadError;

  const reload = useCallback(async () => {
    try {
      setBefore(await load(chat));
      setLoadError(undefined);
    } catch (error) {
      setLoadError(error as Error);
    }
  }, [chat]);
  const ask = (text: string, messageId?: string) => {
    history.replaceState(null, "", `#${chat.id}`);
    void sendMessage({ text, ...(messageId !== undefined && { messageId }) });
  };
  const showEarlier = async () => {
    const page = await transport.history(chat.id, { before: before as number });
    chat.messages = [...page.messages, ...chat.messages];
    setBefore(page.before);
  };

  useEffect(() => {
    if (isBegun) void reload();
    return onOtherTabs((id) => {
      if (isBegun && (id ?? chat.id) === chat.id) void reload();
    });
  }, [chat, isBegun, reload]);

  // A question that was refused is not on the server: it goes back to where it was written.
  useEffect(() => {
    if (error === undefined) return;
    const asked = chat.lastMessage;
    void reload().then(() => {
      if (asked?.role === "user" && chat.messages.every(({ id }) => id !== asked.id)) setDraft(textOf(asked));
    });
  }, [chat, error, reload]);

  const shownStatus = useRef(status);
  useEffect(() => {
    if (shownStatus.current === status) return;
    shownStatus.current = status;
    tellTabs(chat.id);
    onChange();
    // The title of a chat is made when its first answer is stored.
    const later = setTimeout(onChange, 1_000);
    return () => clearTimeout(later);
  }, [chat, status, onChange]);

  return (
    <>
      <main>
        <div className="messages">
          <div>
            {before !== undefined && (
              <button type="button" onClick={() => void showEarlier()}>
                Earlier messages
              </button>
            )}
            {messages.map((message) => (
              <Message
                key={message.id}
                message={message}
                isBusy={isBusy({ status })}
                onEdit={(text) => ask(text, message.id)}
                onRegenerate={() => void regenerate({ messageId: message.id })}
                onDecide={(id, approved) => void addToolApprovalResponse({ id, approved })}
              />
            ))}
            {status === "submitted" && <p className="note">…</p>}
          </div>
        </div>
        {problem && (
          <p className="error" role="alert">
            {isTooLong(problem) && <strong>Context full. </strong>}
            {problem.message}
          </p>
        )}
        <Composer
          draft={draft}
          onDraft={setDraft}
          isBusy={isBusy({ status })}
          onSend={(text) => ask(text)}
          onStop={() => void stop()}
        />
      </main>
      <ContextPanel chatId={chat.id} count={messages.length} isBusy={isBusy({ status })} />
    </>
  );
}

function textOf({ parts }: ChatMessage): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

function isTooLong(error: Error): boolean {
  return APICallError.isInstance(error) && error.statusCode === 413;
}
