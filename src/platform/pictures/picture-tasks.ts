import type { PictureFailure } from './picture-error.ts';

/** A picture as the picture process returns it. Sizes are in pixels. */
type Made = { bytes: Buffer; width: number; height: number };

/** What the picture process does: the input and the result of each kind of work. */
export type PictureTasks = {
  /** An uploaded banner as WebP in two sizes. */
  banner: { input: { bytes: Buffer }; result: { wide: Made; narrow: Made } };
  /** A game server's icon as WebP. */
  icon: { input: { bytes: Buffer }; result: Made };
  /** One of our SVG drawings as PNG. */
  drawing: { input: { svg: string }; result: Buffer };
  /** The operator's logo as PNG. */
  logo: {
    input: { bytes: Buffer; format: 'svg' | 'png' | 'webp' };
    result: { png: Buffer; width: number; height: number };
  };
};
export type PictureTask = keyof PictureTasks;

/** What the parent sends; it sends the next one after the answer. */
export type PictureRequest = {
  [K in PictureTask]: { id: number; task: K; input: PictureTasks[K]['input'] };
}[PictureTask];

/** The answer: the result, or why the picture is refused. `rss` is the memory of the process, in bytes. */
export type PictureAnswer = { id: number; rss: number } & (
  | { result: PictureTasks[PictureTask]['result'] }
  | { refused: PictureFailure }
);
