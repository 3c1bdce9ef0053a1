import { defineMessage, filled, type Text, t } from '../../language/t.ts';
import { CodedError } from '../app-error.ts';
import { LARGEST_UPLOAD_MB, MOST_MILLION_PIXELS } from './picture-limits.ts';

/**
 * `broken`: its structure or content is damaged; `slow`: it took too long to read; `busy`: the user can try again;
 * `late`: no worker prepared it within a day, or a backup was restored that does not contain the waiting file.
 */
export const PICTURE_FAILURES = [
  'none',
  'too-large',
  'not-a-picture',
  'broken',
  'animated',
  'too-many-pixels',
  'too-small',
  'slow',
  'busy',
  'late',
] as const;
export type PictureFailure = (typeof PICTURE_FAILURES)[number];

const SENTENCES: Record<PictureFailure, Text> = {
  none: defineMessage('Choose a picture first.'),
  'too-large': filled(
    defineMessage('The file is larger than {megabytes} MB. Save the picture smaller or as JPEG or WebP.'),
    { megabytes: LARGEST_UPLOAD_MB },
  ),
  'not-a-picture': defineMessage('The file is no PNG, JPEG or WebP picture.'),
  broken: defineMessage('The picture is damaged or incomplete. Save it again and retry.'),
  animated: defineMessage('The picture is animated. Use one with a single frame.'),
  'too-many-pixels': filled(defineMessage('The picture may have at most {pixels} million pixels.'), {
    pixels: MOST_MILLION_PIXELS,
  }),
  'too-small': defineMessage('The picture has too few pixels.'),
  slow: defineMessage('Reading the picture took too long. Save it in a simpler form and retry.'),
  busy: defineMessage('Many pictures are being read at this moment. Try again in a minute.'),
  late: defineMessage('The picture was not prepared. Upload it again.'),
};

export function failureSentence(code: PictureFailure): string {
  return t(SENTENCES[code]);
}

/** The message is a sentence for the user. */
export class PictureError extends CodedError<PictureFailure> {
  constructor(code: PictureFailure, sentence: string = failureSentence(code)) {
    super(code, sentence);
  }
}

/** The picture process ended or was too slow, or this process stops (`stopped`). The picture can be tried again. */
export class PictureProcessError extends CodedError<'ended' | 'timeout' | 'stopped'> {}
