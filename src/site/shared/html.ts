import { html as escaped, raw } from 'hono/html';
import type { Html } from '../../language/text-types.ts';

export type { Html };

/** Text is escaped; `null`, `false` and `undefined` add nothing. A text of `defineMessage` must first be translated. */
export type Content = Html | string | number | null | undefined | false | readonly Content[];

export const html: (strings: TemplateStringsArray, ...values: Content[]) => Html = escaped;

export { raw };
