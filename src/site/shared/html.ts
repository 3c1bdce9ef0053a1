import type { html } from 'hono/html';

/** A part of a page. `html` has escaped everything in it. */
export type Html = ReturnType<typeof html>;

/** What a part may contain. Text is escaped; `null`, `false` and `undefined` are left out. */
export type Content = Html | string | number | null | undefined | false | Content[];
