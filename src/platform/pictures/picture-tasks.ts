import type { PictureFailure } from './picture-error.ts';

/** Sizes are in pixels. */
export type Made = { bytes: Buffer; width: number; height: number };

/** Stored pictures in a drawing, and the size in pixels at which each is shown. */
export type DrawnPictures = Partial<Record<'banner' | 'icon', Made>>;

export type PictureTasks = {
  banner: { input: { bytes: Buffer }; result: { wide: Made; narrow: Made } };
  icon: { input: { bytes: Buffer }; result: Made };
  /** One of Tallyport's SVG drawings as PNG. Its `<image href="picture:banner"/>` shows `pictures.banner`. */
  drawing: { input: { svg: string; pictures?: DrawnPictures }; result: Buffer };
  'site-logo': { input: { bytes: Buffer; format: 'svg' | 'png' | 'webp' }; result: Made };
  logo: {
    input: { bytes: Buffer; format: 'svg' | 'png' | 'webp' };
    result: { png: Buffer; width: number; height: number };
  };
};
export type PictureTask = keyof PictureTasks;

/** A request of the worker, which sends the next one only after the answer. */
export type PictureRequest = { task: PictureTask; input: PictureTasks[PictureTask]['input'] };

/** The result, or why the picture is refused. `rss` is the memory of the picture process, in bytes. */
export type PictureAnswer = { rss: number } & (
  | { result: PictureTasks[PictureTask]['result'] }
  | { refused: PictureFailure }
);
