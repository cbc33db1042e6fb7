import { type Chat, useChat } from "@ai-sdk/react";
import { useCallback, useEffect, useRef, useState } from "react";
import { isBusy, load } from "./chats.ts";
import { Composer } from "./composer.tsx";
import { ContextPanel } from "./context-panel.tsx";
import { Message } from "./message.tsx";
import { onOtherTabs, tellTabs } from "./tabs.ts";
import { type ChatMessage, statusOf, transport } from "./transport.ts";

interface Props {
  readonly chat: Chat<ChatMessage>;
  /** Told whenever an answer begins or ends. */
  readonly onChange: () => void;
}

export function Conversation({ chat, onChange }: Props) {
  const { messages, status, error } = useChat({ chat });
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
  /** A question that was refused is not on the server: it goes back to where it was written. */
  const recover = useCallback(async () => {
    const asked = chat.lastMessage;
    await reload();
    if (asked?.role === "user" && !chat.messages.some((message) => isSame(message, asked)))
      setDraft(textOf(asked));
  }, [chat, reload]);
  const ask = (text: string, messageId?: string) => {
    history.replaceState(null, "", `#${chat.id}`);
    setLoadError(undefined);
    void chat.sendMessage({ text, ...(messageId !== undefined && { messageId }) });
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

  useEffect(() => {
    if (error !== undefined) void recover();
  }, [error, recover]);

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
                onRegenerate={() => void chat.regenerate({ messageId: message.id })}
                onDecide={(id, approved) => void chat.addToolApprovalResponse({ id, approved })}
              />
            ))}
            {status === "submitted" && <p className="note">…</p>}
          </div>
        </div>
        {problem && (
          <p className="error" role="alert">
            {statusOf(problem) === 413 && <strong>Context full. </strong>}
            {problem.message}{" "}
            <button
              type="button"
              onClick={() => {
                chat.clearError();
                void recover();
              }}
            >
              Load again
            </button>
          </p>
        )}
        <Composer
          draft={draft}
          onDraft={setDraft}
          isBusy={isBusy({ status })}
          onSend={(text) => ask(text)}
          onStop={() => void chat.stop()}
        />
      </main>
      <ContextPanel chatId={chat.id} count={messages.length} isBusy={isBusy({ status })} />
    </>
  );
}

function textOf({ parts }: ChatMessage): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

function isSame(one: ChatMessage, other: ChatMessage): boolean {
  return one.id === other.id && textOf(one) === textOf(other);
}
