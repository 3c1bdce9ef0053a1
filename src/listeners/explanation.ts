import { defineMessage, type PlainMessage, type Text } from '../language/t.ts';

/** For a server's owner, one sentence each: what happened, and what to do about it. */
export type Explanation = { cause: Text; advice: Text };

/** From English texts, which are translated later. */
export function explanation(cause: PlainMessage | Text, advice: PlainMessage | Text): Explanation {
  return { cause: untranslated(cause), advice: untranslated(advice) };
}

function untranslated(text: PlainMessage | Text): Text {
  return typeof text === 'string' ? defineMessage(text) : text;
}

export const NOTHING_TO_DO = defineMessage('There is nothing to do.');
