const channel = new BroadcastChannel("chats");

/** Tells the other tabs of this browser that something was said in a chat, or that it was deleted. */
export function tellTabs(chatId: string): void {
  channel.postMessage(chatId);
}

/** Calls back with the chat that another tab tells of, and with none when this tab is looked at again. */
export function onOtherTabs(tell: (chatId: string | undefined) => void): () => void {
  const onMessage = ({ data }: MessageEvent<string>): void => tell(data);
  const onFocus = (): void => tell(undefined);
  channel.addEventListener("message", onMessage);
  window.addEventListener("focus", onFocus);
  return () => {
    channel.removeEventListener("message", onMessage);
    window.removeEventListener("focus", onFocus);
  };
}
