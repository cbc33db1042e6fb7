import { type Header, headerOf, type MediumData } from "./header.ts";

/**
 * How long a sound or a film lasts, by what its header says: WAV, MP3, FLAC, Ogg (Vorbis, Opus), MP4 and its like, WebM. It reads
 * a few bytes at each end. `undefined` for anything else, and where the header does not tell.
 */
export function mediaSeconds(data: MediumData, bytes: number): number | undefined {
  const header = headerOf(data);
  const seconds = secondsOf(header, bytes);
  return seconds !== undefined && Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
}

function secondsOf(header: Header, bytes: number): number | undefined {
  if (header.text(0, 4) === "RIFF" && header.text(8, 4) === "WAVE") return ofWav(header, bytes);
  if (header.text(0, 4) === "fLaC") return ofFlac(header);
  if (header.text(0, 4) === "OggS") return ofOgg(header, bytes);
  if (header.text(4, 4) === "ftyp") return ofMp4(header, 0, bytes);
  if (header.big(0, 4) === 0x1a45dfa3) return ofWebm(header, bytes);
  return ofMp3(header, bytes);
}

/** Whether all bits of a number of so many bytes are set. Beyond 2 ** 53 a few others round to it, which no file has. */
const isOnes = (value: number, bytes: number): boolean => value === 256 ** bytes - 1;

/** More than any file has parts at one level of what is looked through. */
const mostParts = 1000;

/** Its chunks: `fmt ` says how many bytes a second has, `data` how many there are; of a stream, as many as remain. */
function ofWav({ text, little }: Header, bytes: number): number | undefined {
  let rate: number | undefined;
  for (let at = 12, part = 0; at + 8 <= bytes && part < mostParts; part++) {
    const size = little(at + 4, 4);
    if (text(at, 4) === "fmt ") rate = little(at + 16, 4);
    if (text(at, 4) === "data") return rate === undefined ? undefined : Math.min(size, bytes - at - 8) / rate;
    at += 8 + size + (size % 2);
  }
  return undefined;
}

/** STREAMINFO comes first: 20 bits of rate, 8 of other things, 36 of samples. */
function ofFlac({ big }: Header): number {
  const rate = Math.floor(big(18, 3) / 16);
  return ((big(21, 1) % 16) * 2 ** 32 + big(22, 4)) / rate;
}

/** A page is at most so long; the last one says where the sound ends. */
const longestPage = 65_307;

/** Opus always counts 48,000 a second, and says how many of the first are not played. */
function ofOgg({ text, big, little }: Header, bytes: number): number | undefined {
  const first = 27 + little(26, 1);
  const isOpus = text(first, 8) === "OpusHead";
  if (!isOpus && text(first, 7) !== "\u0001vorbis") return undefined;
  const rate = isOpus ? 48_000 : little(first + 12, 4);
  const skipped = isOpus ? little(first + 10, 2) : 0;
  for (let at = bytes - 27; at >= 0 && at > bytes - longestPage; at--) {
    if (big(at, 4) !== 0x4f676753) continue;
    const end = little(at + 6, 8);
    // Else no packet ends on that page.
    if (!isOnes(end, 8)) return (end - skipped) / rate;
  }
  return undefined;
}

/** Its boxes: `moov` holds `mvhd`, which says how long the whole is. */
function ofMp4(header: Header, from: number, to: number): number | undefined {
  const { text, big } = header;
  for (let at = from, part = 0; at + 8 <= to && part < mostParts; part++) {
    const isLong = big(at, 4) === 1;
    const size = isLong ? big(at + 8, 4) * 2 ** 32 + big(at + 12, 4) : big(at, 4) || to - at;
    const begin = at + (isLong ? 16 : 8);
    switch (text(at + 4, 4)) {
      case "moov":
        return ofMp4(header, begin, Math.min(to, at + size));
      case "mvhd": {
        const [scale, length] = big(begin, 1) === 1 ? [begin + 20, 8] : [begin + 12, 4];
        const duration = big(scale + 4, length);
        // ISO/IEC 14496-12: where it cannot be told.
        return isOnes(duration, length) ? undefined : duration / big(scale, 4);
      }
    }
    if (!(size >= 8)) return undefined;
    at += size;
  }
  return undefined;
}

const segment = 0x18538067;
const info = 0x1549a966;
const timestampScale = 0x2ad7b1;
const durationId = 0x4489;

/** Its elements: Segment, Info, and in that the duration, in units of `TimestampScale` nanoseconds. */
function ofWebm(header: Header, bytes: number): number | undefined {
  let scale = 1_000_000;
  let units: number | undefined;
  let end = bytes;
  for (let at = 0, part = 0; at < end && part < mostParts; part++) {
    const id = vint(header, at, false);
    const size = vint(header, at + id.length, true);
    const begin = at + id.length + size.length;
    if (!(id.length > 0 && size.length > 0)) return undefined;
    at = begin;
    if (id.value === segment) continue;
    if (id.value === info) {
      end = Math.min(end, begin + size.value);
      continue;
    }
    if (id.value === timestampScale) scale = header.big(begin, Math.min(size.value, 8));
    if (id.value === durationId) units = header.float(begin, size.value);
    at = begin + size.value;
  }
  return units === undefined ? undefined : (units * scale) / 1e9;
}

/** A number of 1 to 8 bytes, whose first says how many; an id keeps that mark. */
function vint({ big }: Header, at: number, isSize: boolean): { value: number; length: number } {
  const first = big(at, 1);
  const length = first > 0 ? 8 - Math.floor(Math.log2(first)) : 0;
  if (!isSize) return { value: big(at, length), length };
  // The mark apart: with it, eight bytes are more than a number holds exactly.
  return { value: (first - 2 ** (8 - length)) * 256 ** (length - 1) + big(at + 1, length - 1), length };
}

/** By version and layer, in kbit/s; by version, samples a second. */
const bitrates: Readonly<Record<string, readonly number[]>> = {
  "1-1": [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  "1-2": [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  "1-3": [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  "2-1": [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  "2-2": [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};
const rates = [44_100, 48_000, 32_000];

/**
 * Behind its tag (ID3), the first frame says how many bits a second has, unless a table in it (Xing or Info, VBRI) says how
 * many frames there are.
 */
function ofMp3({ text, big }: Header, bytes: number): number | undefined {
  const sevenBits = (at: number): number => big(at, 1) % 128;
  const tag =
    text(0, 3) === "ID3" ? 10 + [6, 7, 8, 9].reduce((size, at) => size * 128 + sevenBits(at), 0) : 0;
  const [mark, second, third, fourth] = [0, 1, 2, 3].map((offset) => big(tag + offset, 1)) as [
    number,
    number,
    number,
    number,
  ];
  const version = (second >> 3) & 3;
  const layer = 4 - ((second >> 1) & 3);
  if (mark !== 0xff || second < 0xe0 || version === 1 || layer === 4) return undefined;
  const isFirst = version === 3;
  const table = bitrates[isFirst ? `1-${layer}` : layer === 1 ? "2-1" : "2-2"];
  const bitrate = table?.[(third >> 4) - 1];
  const full = rates[(third >> 2) & 3];
  if (bitrate === undefined || full === undefined) return undefined;
  const rate = full / (isFirst ? 1 : version === 2 ? 2 : 4);
  const samples = layer === 1 ? 384 : layer === 3 && !isFirst ? 576 : 1152;
  const isMono = fourth >> 6 === 3;
  const side = isFirst ? (isMono ? 17 : 32) : isMono ? 9 : 17;
  const xing = tag + 4 + side;
  const hasFrames = ["Xing", "Info"].includes(text(xing, 4)) && big(xing + 4, 4) % 2 === 1;
  if (hasFrames) return (big(xing + 8, 4) * samples) / rate;
  if (text(tag + 36, 4) === "VBRI") return (big(tag + 50, 4) * samples) / rate;
  return ((bytes - tag) * 8) / (bitrate * 1000);
}
