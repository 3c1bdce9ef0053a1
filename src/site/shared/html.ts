import { html as escaped, raw } from 'hono/html';
import type { Html } from '../../language/text-types.ts';

/** A part of a page. All values in it were escaped by `html`, or given to `raw` as trusted HTML. */
export type { Html };

/**
 * The values that a template accepts. Text is escaped; `null`, `false` and `undefined` add nothing. A text of
 * `defineMessage` is not accepted: it must first be translated with `t`.
 */
export type Content = Html | string | number | null | undefined | false | readonly Content[];

/** The tag for templates of pages. Values are escaped, both in text and in attributes. */
export const html: (strings: TemplateStringsArray, ...values: Content[]) => Html = escaped;

export { raw };
