import type { html } from 'hono/html';

/** A piece of a page. Everything put into it was escaped by `html`. */
export type Html = ReturnType<typeof html>;

/** What may stand inside one: text is escaped, `null`, `false` and `undefined` leave nothing. */
export type Content = Html | string | number | null | undefined | false | Content[];
