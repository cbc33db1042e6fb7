/** How a model charges for an image, by OpenAI's documented rules. */
export type ImageRule = TileRule | PatchRule;

/**
 * At high detail the image is scaled to fit 2,048 by 2,048 pixels, then its shorter side to 768, and each square of 512
 * pixels costs `tile`, on top of `base`. At low detail it costs `base`.
 */
export interface TileRule {
  readonly kind: "tiles";
  /** Part of the counter's name. */
  readonly name: string;
  readonly base: number;
  readonly tile: number;
}

/** Each square of 32 pixels costs `multiplier`; an image of more squares than `most` is scaled down first. */
export interface PatchRule {
  readonly kind: "patches";
  /** Part of the counter's name. */
  readonly name: string;
  readonly multiplier: number;
  readonly most: number;
  /** The same at detail `original`, where the model has it. */
  readonly original: number;
  /** Whether an image without a detail, or with `auto`, is taken at `original`. */
  readonly isOriginal: boolean;
}

export function tiles(base: number, tile: number): TileRule {
  return { kind: "tiles", name: `tiles-${base}-${tile}`, base, tile };
}

export function patches(multiplier: number, most: number, original: number = most): PatchRule {
  const name = `patches-${multiplier}-${most}`;
  return { kind: "patches", name, multiplier, most, original, isOriginal: false };
}

/** A rule by which an image without a detail costs what it costs at `original`. */
export function originalPatches(multiplier: number, most: number, original: number): PatchRule {
  const rule = patches(multiplier, most, original);
  return { ...rule, name: `${rule.name}-${original}`, isOriginal: true };
}

/** GPT-4o's rule. Also used for GPT-4.1, and assumed if only an encoding is known. */
export const defaultImages: TileRule = tiles(85, 170);

/** An image's width and height in pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** The cost of an image. If its size is unknown: the most that one can cost. */
export function imageTokens(rule: ImageRule, size: ImageSize | undefined, detail?: string): number {
  if (rule.kind === "tiles") {
    if (detail === "low") return rule.base;
    return rule.base + rule.tile * (size === undefined ? 8 : tileCount(size));
  }
  // These models charge the same at low detail.
  const isOriginal = detail === "original" || (rule.isOriginal && (detail ?? "auto") === "auto");
  const most = isOriginal ? rule.original : rule.most;
  return Math.ceil(rule.multiplier * (size === undefined ? most : patchCount(size, most)) - 1e-9);
}

const tileSide = 512;

function tileCount({ width, height }: ImageSize): number {
  const fitting = Math.min(1, 2048 / Math.max(width, height));
  const scale = Math.min(fitting, 768 / Math.min(width, height));
  // Half a pixel is dropped: 2,050 by 513 is billed as one row of squares, 2,049 by 513 as two.
  const across = (pixels: number): number => Math.ceil(Math.ceil(pixels * scale - 0.5) / tileSide);
  return Math.max(1, across(width)) * Math.max(1, across(height));
}

const patchSide = 32;

function patchCount({ width, height }: ImageSize, most: number): number {
  const columns = Math.ceil(width / patchSide);
  const rows = Math.ceil(height / patchSide);
  if (columns * rows <= most) return columns * rows;
  const shrink = Math.sqrt((patchSide * patchSide * most) / (width * height));
  const [across, down] = [(width * shrink) / patchSide, (height * shrink) / patchSide];
  // Makes one side a whole number of squares without exceeding the area.
  const whole = Math.min(Math.max(1, Math.floor(across)) / across, Math.max(1, Math.floor(down)) / down);
  return Math.min(most, Math.ceil(across * whole - 1e-9) * Math.ceil(down * whole - 1e-9));
}
