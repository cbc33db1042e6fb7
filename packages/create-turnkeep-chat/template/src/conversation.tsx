import type { Chat } from "@ai-sdk/react";
import { decide, isBusy } from "./chats.ts";
import { Composer } from "./composer.tsx";
import { ContextPanel } from "./context-panel.tsx";
import { Message } from "./message.tsx";
import { type ChatMessage, statusOf } from "./transport.ts";
import { useConversation } from "./use-conversation.ts";

interface Props {
  readonly chat: Chat<ChatMessage>;
  /** Told whenever an answer begins or ends. */
  readonly onChange: () => void;
}

export function Conversation({ chat, onChange }: Props) {
  const conversation = useConversation(chat, onChange);
  const { messages, status, versions, problem } = conversation;
  const busy = isBusy({ status });
  return (
    <>
      <main>
        <div className="messages">
          <div>
            {conversation.hasEarlier && (
              <button type="button" onClick={() => void conversation.showEarlier()}>
                Earlier messages
              </button>
            )}
            {messages.map((message) => (
              <Message
                key={message.id}
                message={message}
                versions={versions[message.id]}
                isBusy={busy}
                onEdit={(text) => conversation.ask(text, message.id)}
                onRegenerate={() => void chat.regenerate({ messageId: message.id })}
                onDecide={(id, approved) => void decide(chat, id, approved)}
                onVersion={(id) => void conversation.showVersion(id)}
              />
            ))}
            {status === "submitted" && <p className="note">…</p>}
          </div>
        </div>
        {problem && (
          <p className="error" role="alert">
            {statusOf(problem) === 413 && <strong>Context full. </strong>}
            {problem.message}{" "}
            <button type="button" onClick={conversation.loadAgain}>
              Load again
            </button>
          </p>
        )}
        <Composer
          draft={conversation.draft}
          onDraft={conversation.setDraft}
          isBusy={busy}
          onSend={(text) => conversation.ask(text)}
          onStop={() => void chat.stop()}
        />
      </main>
      <ContextPanel chatId={chat.id} newest={messages.at(-1)?.id} isBusy={busy} />
    </>
  );
}
