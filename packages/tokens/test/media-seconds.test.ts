import { modelMessageFormat, user } from "@turnkeep/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundCounter, estimateMedia, tokenCounter } from "../src/index.ts";
import { mediaSeconds } from "../src/media-seconds.ts";

const bytes = (...parts: (string | number | readonly number[])[]): number[] =>
  parts.flatMap((part) =>
    typeof part === "string"
      ? [...Buffer.from(part, "latin1")]
      : typeof part === "number"
        ? [part]
        : [...part],
  );
const big = (value: number, length = 4): number[] =>
  Array.from({ length }, (_, at) => Math.floor(value / 256 ** (length - 1 - at)) % 256);
const little = (value: number, length = 4): number[] => big(value, length).reverse();
const zeros = (length: number): number[] => Array.from({ length }, () => 0);

/** One second has 32,000 bytes. */
const wav = (said: number, held: number): number[] => {
  const chunk = bytes(
    little(1, 2),
    little(1, 2),
    little(16_000),
    little(32_000),
    little(2, 2),
    little(16, 2),
  );
  const list = bytes("LIST", little(3), "abc", 0);
  return bytes("RIFF", little(0), "WAVE", "fmt ", little(16), chunk, list, "data", little(said), zeros(held));
};
const flac = bytes("fLaC", 0, big(34, 3), zeros(10), [0x0a, 0xc4, 0x42, 0xf0], big(44_100 * 90), zeros(16));
const oggPage = (granule: number, body: readonly number[]): number[] =>
  bytes("OggS", 0, 0, little(granule), zeros(4), zeros(12), 1, body.length, body);
const opus = bytes(
  oggPage(0, bytes("OpusHead", 1, 1, little(312, 2), little(16_000), 0, 0, 0)),
  oggPage(48_000 * 7 + 312, zeros(50)),
);
/** As a stream that was cut off ends: no packet ends on its last page. */
const opusCut = bytes(opus, oggPage(0, zeros(40)));
opusCut.fill(0xff, opus.length + 6, opus.length + 14);
const vorbis = bytes(
  oggPage(0, bytes(1, "vorbis", zeros(4), 2, little(44_100), zeros(14))),
  oggPage(44_100 * 5, zeros(50)),
);
const box = (type: string, ...body: (string | readonly number[])[]): number[] => {
  const inside = bytes(...body);
  return bytes(big(8 + inside.length), type, inside);
};
const movie = (...head: (readonly number[])[]): number[] =>
  bytes(
    box("ftyp", "isom"),
    box("mdat", zeros(100)),
    box("moov", box("free", zeros(8)), box("mvhd", ...head)),
  );
const mp4 = movie(zeros(12), big(1000), big(61_500));
const mp4Long = movie([1], zeros(19), big(90_000), big(90_000 * 3600, 8));
const size = (length: number): number[] => [0x01, ...big(length, 7)];
const element = (id: readonly number[], body: readonly number[]): number[] =>
  bytes(id, size(body.length), body);
const float = Buffer.alloc(8);
float.writeDoubleBE(12_340);
const infoOf = (...elements: (readonly number[])[]): number[] =>
  element([0x15, 0x49, 0xa9, 0x66], elements.flat());
const webm = (info: readonly number[]): number[] =>
  bytes(
    element([0x1a, 0x45, 0xdf, 0xa3], zeros(20)),
    [0x18, 0x53, 0x80, 0x67, 0x01, ...zeros(7).map(() => 0xff)],
    info,
    element([0x1f, 0x43, 0xb6, 0x75], zeros(40)),
  );
const scale = element([0x2a, 0xd7, 0xb1], big(1_000_000));
const film = webm(infoOf(scale, element([0x44, 0x89], [...float])));
const liveFilm = webm(infoOf(scale));
/** MPEG 1, layer 3, 128 kbit/s at 44,100. */
const frame = [0xff, 0xfb, 0x90, 0xc0];
const id3 = bytes("ID3", 3, 0, 0, [0, 0, 1, 0], zeros(128));
const mp3 = bytes(id3, frame, zeros(16_000 * 3 - 4));
const mp3Xing = bytes(id3, frame, zeros(17), "Info", big(3), big(2000), zeros(500));
const mp3Vbri = bytes(frame, zeros(32), "VBRI", zeros(10), big(1000), zeros(500));

describe("mediaSeconds", () => {
  it.each([
    ["WAV", wav(64_000, 64_000), 2],
    ["WAV that was streamed, whose length was not known", wav(0xffff_ffff, 48_000), 1.5],
    ["FLAC", flac, 90],
    ["Opus", opus, 7],
    ["Opus that was cut off", opusCut, 7],
    ["Vorbis", vorbis, 5],
    ["MP4", mp4, 61.5],
    ["MP4 of 64 bits", mp4Long, 3600],
    ["WebM", film, 12.34],
    ["MP3 of one rate, behind a tag", mp3, 3],
    ["MP3 with a table", mp3Xing, (2000 * 1152) / 44_100],
    ["MP3 with Fraunhofer's table", mp3Vbri, (1000 * 1152) / 44_100],
  ])("reads %s", (_, data, seconds) => {
    for (const given of [
      Buffer.from(data),
      Buffer.from(data).toString("base64"),
      new Uint8Array(data).buffer,
    ])
      expect(mediaSeconds(given, data.length)).toBeCloseTo(seconds, 6);
  });

  it.each([
    ["a film that was recorded live", liveFilm],
    ["a film in pieces", movie(zeros(12), big(1000), big(0))],
    ["a film that does not know", movie(zeros(12), big(1000), big(0xffff_ffff))],
    [
      "a film that does not know in 64 bits",
      movie(
        [1],
        zeros(19),
        big(90_000),
        zeros(8).map(() => 0xff),
      ),
    ],
    ["Ogg without an end", opusCut.slice(opus.length)],
    ["Ogg of another kind", oggPage(7, bytes("Speex   ", zeros(40)))],
    ["anything else", bytes("Hello")],
    ["nothing", []],
  ])("tells nothing of %s", (_, data) => {
    expect(mediaSeconds(Uint8Array.from(data), data.length)).toBeUndefined();
  });

  it("is not upset by anything, and looks at little of it", () => {
    const begun = [wav(10, 0), flac, opus, mp4, film, id3, frame].map((data) => data.slice(0, 24));
    fc.assert(
      fc.property(fc.constantFrom(...begun), fc.uint8Array({ maxLength: 300 }), (start, rest) => {
        const data = Uint8Array.from([...start, ...rest]);
        const seconds = mediaSeconds(data, data.length);
        expect(seconds === undefined || seconds > 0).toBe(true);
      }),
    );
  });
});

describe("sound and film cost by their length", () => {
  const piece = (mediaType: string, data: readonly number[]) =>
    ({ type: "media", mediaType, bytes: data.length, data: Uint8Array.from(data), of: "content" }) as const;

  it("ten tokens a second of sound with OpenAI's models, however large the file", () => {
    expect(estimateMedia(piece("audio/wav", wav(64_000, 64_000)))).toBe(20);
    expect(estimateMedia(piece("audio/flac", flac))).toBe(900);
    expect(estimateMedia(piece("audio/aac", zeros(4001)))).toBe(11);
  });

  it("by Google's figures with Gemini, a film with its sound", async () => {
    const counter = await boundCounter("gemini");
    const costs = (mediaType: string, data: readonly number[]): number =>
      counter.count(user([{ type: "file", mediaType, data: Uint8Array.from(data) }]), modelMessageFormat) -
      counter.count(user([]), modelMessageFormat);
    expect(costs("audio/ogg", opus)).toBe(7 * 32);
    expect(costs("video/mp4", mp4)).toBe(61.5 * 322);
    expect(costs("video/webm", liveFilm)).toBe(Math.ceil(liveFilm.length / 4));
    // A header may say anything: 1e300 units.
    const endless = Buffer.alloc(8);
    endless.writeDoubleBE(1e300);
    const hostile = webm(infoOf(scale, element([0x44, 0x89], [...endless])));
    expect(costs("video/webm", hostile)).toBe(Math.ceil(hostile.length / 4));
  });

  it("a film by its bytes where nobody has named a figure", async () => {
    const counter = await tokenCounter("gpt-4o");
    const film = user([{ type: "file" as const, mediaType: "video/mp4", data: Uint8Array.from(mp4) }]);
    expect(counter.count(film, modelMessageFormat) - counter.count(user([]), modelMessageFormat)).toBe(
      Math.ceil(mp4.length / 4),
    );
  });
});
