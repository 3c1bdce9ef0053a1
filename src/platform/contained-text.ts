/** Characters that change the direction of the text after them, so that a site's name may look different. */
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/gu;

/** More marks on one letter than any writing has are drawn over the lines above and below. */
const TOO_MANY_MARKS = /(\p{M}{4})\p{M}+/gu;

/** A user's text without what changes or covers the text around it. Pages set `dir="auto"` or use `bdi`. */
export function containedText(text: string): string {
  return text.replace(DIRECTIONS, '').replace(TOO_MANY_MARKS, '$1');
}
