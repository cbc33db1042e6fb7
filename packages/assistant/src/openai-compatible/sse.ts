/** How long a server may take to end its stream behind the last event. */
const patienceMs = 1000;

/**
 * The data of each event of a stream of server-sent events (WHATWG HTML, section 9.2.6), in order. Lines may end in any of
 * the three ways and be cut anywhere; an event that the end cuts off is none. Behind the `last` nobody waits for the end,
 * which is read all the same: of a stream that is broken off the connection cannot be used again.
 */
export async function* eventData(
  body: ReadableStream<Uint8Array>,
  last: (data: string) => boolean = () => false,
): AsyncGenerator<string, void> {
  let data: string[] = [];
  const reading = { isOver: false };
  for await (const line of linesOf(body, reading)) {
    if (line === "") {
      const event = data.join("\n");
      reading.isOver = last(event);
      if (data.length > 0) yield event;
      if (reading.isOver) return;
      data = [];
    } else if (line === "data" || line.startsWith("data:")) {
      data.push(line.slice(5).replace(/^ /, ""));
    }
  }
}

async function* linesOf(
  body: ReadableStream<Uint8Array>,
  reading: { readonly isOver: boolean },
): AsyncGenerator<string, void> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as never)
    .getReader() as ReadableStreamDefaultReader<string>;
  // Of a line whose end has not come. Each piece is looked at once: an event may be an image of megabytes.
  let begun: string[] = [];
  let held = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const text = held + value;
      // A carriage return at the end may be half of a line's end.
      held = text.endsWith("\r") ? "\r" : "";
      const pieces = text.slice(0, text.length - held.length).split(/\r\n|\n|\r/);
      for (const end of pieces.splice(0, pieces.length - 1)) {
        yield [...begun, end].join("");
        begun = [];
      }
      begun.push(...pieces);
    }
    if (held !== "") yield begun.join("");
  } finally {
    // Whoever stops reading needs no more of the answer; what that fails with is not his matter.
    if (reading.isOver) void readToEnd(reader);
    else await reader.cancel().catch(() => undefined);
  }
}

async function readToEnd(reader: ReadableStreamDefaultReader<string>): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), patienceMs);
  try {
    while (!(await reader.read()).done);
  } catch {
    // The answer is there: what its end fails with is nobody's matter.
  } finally {
    clearTimeout(timer);
  }
}
