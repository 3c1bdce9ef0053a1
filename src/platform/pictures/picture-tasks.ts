import type { PictureFailure } from './picture-error.ts';

/** A picture as the picture process returns it. Sizes are in pixels. */
type Made = { bytes: Buffer; width: number; height: number };

/** Stored pictures in a drawing, and the size in pixels at which each is shown. */
export type DrawnPictures = Partial<Record<'banner' | 'icon', Made>>;

/** The tasks of the picture process, with the input and the result of each. */
export type PictureTasks = {
  /** An uploaded banner as WebP in two sizes. */
  banner: { input: { bytes: Buffer }; result: { wide: Made; narrow: Made } };
  /** A game server's icon as WebP. */
  icon: { input: { bytes: Buffer }; result: Made };
  /** One of Tallyport's SVG drawings as PNG. Its `<image href="picture:banner"/>` shows `pictures.banner`. */
  drawing: { input: { svg: string; pictures?: DrawnPictures }; result: Buffer };
  /** A logo that the operator uploaded, as WebP. */
  'site-logo': { input: { bytes: Buffer; format: 'svg' | 'png' | 'webp' }; result: Made };
  /** The operator's logo as PNG. */
  logo: {
    input: { bytes: Buffer; format: 'svg' | 'png' | 'webp' };
    result: { png: Buffer; width: number; height: number };
  };
};
export type PictureTask = keyof PictureTasks;

/** A request of the worker, which sends the next one only after the answer. */
export type PictureRequest = {
  [K in PictureTask]: { task: K; input: PictureTasks[K]['input'] };
}[PictureTask];

/** The result, or why the picture is refused. `rss` is the memory of the picture process, in bytes. */
export type PictureAnswer = { rss: number } & (
  | { result: PictureTasks[PictureTask]['result'] }
  | { refused: PictureFailure }
);
