/**
 * Why a picture is refused:
 * - `none`: no file was sent.
 * - `too-large`: the file is larger than the limit.
 * - `not-a-picture`: no PNG, JPEG or WebP, whatever its name says.
 * - `broken`: its structure or content is damaged.
 * - `animated`: it has more than one frame.
 * - `extra-data`: something follows the picture in the file.
 * - `too-many-pixels`, `too-small`: its size in pixels.
 * - `slow`: it took too long to read. `busy`: too many others are waiting; try again.
 */
export type PictureFailure =
  | 'none'
  | 'too-large'
  | 'not-a-picture'
  | 'broken'
  | 'animated'
  | 'extra-data'
  | 'too-many-pixels'
  | 'too-small'
  | 'slow'
  | 'busy';

/** A picture that is refused; the message is a sentence for the user. */
export class PictureError extends Error {
  readonly code: PictureFailure;

  constructor(code: PictureFailure, sentence: string) {
    super(sentence);
    this.name = 'PictureError';
    this.code = code;
  }
}
