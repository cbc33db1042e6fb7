/**
 * The data of each event of a stream of server-sent events (WHATWG HTML, section 9.2.6), in order. Lines may end in any of
 * the three ways and be cut anywhere; an event that the end cuts off is none.
 */
export async function* eventData(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  let data: string[] = [];
  for await (const line of linesOf(body)) {
    if (line === "") {
      if (data.length > 0) yield data.join("\n");
      data = [];
    } else if (line === "data" || line.startsWith("data:")) {
      data.push(line.slice(5).replace(/^ /, ""));
    }
  }
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as never)
    .getReader() as ReadableStreamDefaultReader<string>;
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      rest += value;
      // A carriage return at the end may be half of a line's end.
      const complete = rest.endsWith("\r") ? rest.slice(0, -1) : rest;
      const lines = complete.split(/\r\n|\n|\r/);
      rest = (lines.pop() as string) + rest.slice(complete.length);
      yield* lines;
    }
    if (rest.endsWith("\r")) yield rest.slice(0, -1);
  } finally {
    // Whoever stops reading needs no more of the answer; what that fails with is not his matter.
    await reader.cancel().catch(() => undefined);
  }
}
