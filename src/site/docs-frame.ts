import type { Site } from './shared/decorate-site.ts';
import { type Html, html } from './shared/html.ts';

/** Below `/docs/`, in the order of the side bar. The texts of all but the first are documents in `docs/`. */
export const DOC_PAGES = [
  { name: '', title: 'API reference' },
  { name: 'errors', title: 'Errors' },
  { name: 'read-api', title: 'Reading without a token' },
  { name: 'fetching', title: 'Fetching votes' },
  { name: 'relay', title: 'The relay' },
  { name: 'claims', title: 'Claims' },
  { name: 'goals', title: 'Vote goals' },
  { name: 'pausing', title: 'Pausing a listing' },
  { name: 'events', title: 'Events' },
] as const;
export type DocPageName = (typeof DOC_PAGES)[number]['name'];

/** The bar and the side bar, which the reference and the documents share. `parts`: of the current page, by id. */
export function docsFrame(
  { base, logo, name }: Site,
  current: DocPageName,
  parts: { id: string; title: string }[] = [],
): Html {
  return html`<header class="docs-head"><nav aria-label="Site"><a href="${base}/"><span aria-hidden="true">←</span><img
      src="${logo.href}" alt="" width="${String(logo.width)}" height="${String(logo.height)}" /><span
      dir="auto">${name}</span></a></nav></header>
    <nav class="docs-pages" aria-label="Documentation"><ul>${DOC_PAGES.map((page) =>
      page.name === current
        ? html`<li><a href="${base}/docs/${page.name}" aria-current="page">${page.title}</a>${
            parts.length > 0
              ? html`<ul>${parts.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>`
              : ''
          }</li>`
        : html`<li><a href="${base}/docs/${page.name}">${page.title}</a></li>`,
    )}</ul></nav>`;
}

/** The operator's colour is last, because it replaces tokens. */
export function docsStyles({ asset, accentStyle }: Site, first: 'site.css' | 'tokens.css'): Html {
  const files = [asset(first), asset('docs.css'), ...(accentStyle ? [accentStyle] : [])];
  return html`${files.map((href) => html`<link rel="stylesheet" href="${href}" />`)}`;
}
