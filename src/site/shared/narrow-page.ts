import { type Content, html } from './html.ts';
import type { Page } from './layout.ts';

/** A page in one narrow column, with its title above `content`. */
export function narrowPage(title: string, content: Content): Page {
  return {
    title,
    width: 'narrow',
    body: html`<h1>${title}</h1>
      ${content}`,
  };
}
