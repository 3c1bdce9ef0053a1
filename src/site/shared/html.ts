import { html as escaped, raw } from 'hono/html';
import type { Html } from '../../language/messages.ts';

/** A part of a page. `html` has escaped everything in it. */
export type { Html };

/**
 * What a part may contain. Text is escaped; `null`, `false` and `undefined` are left out. A text of `defineMessage` is
 * not among them: `t` translates it first.
 */
export type Content = Html | string | number | null | undefined | false | readonly Content[];

/** Makes a part of a page. Values are escaped, in text and in attributes. */
export const html: (strings: TemplateStringsArray, ...values: Content[]) => Html = escaped;

export { raw };
