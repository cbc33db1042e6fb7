interface Props {
  readonly draft: string;
  readonly isBusy: boolean;
  readonly onDraft: (text: string) => void;
  readonly onSend: (text: string) => void;
  readonly onStop: () => void;
}

export function Composer({ draft, isBusy, onDraft, onSend, onStop }: Props) {
  const send = () => {
    if (isBusy || draft.trim() === "") return;
    onSend(draft);
    onDraft("");
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        aria-label="Message"
        placeholder="Ask something"
        rows={3}
        value={draft}
        onChange={({ target }) => onDraft(target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      {isBusy ? (
        <button type="button" onClick={onStop}>
          Stop
        </button>
      ) : (
        <button type="submit">Send</button>
      )}
    </form>
  );
}
