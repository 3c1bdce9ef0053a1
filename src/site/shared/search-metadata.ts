import { type Language, languageNow } from '../../language/language.ts';
import type { Site } from './decorate-site.ts';
import { type Html, html } from './html.ts';
import { type JsonLd, jsonLdBlock } from './json-ld.ts';

export type SearchMetadata = {
  /** A path under the site's base with its query. */
  canonical: string;
  description: string;
  /** A path under the site's base, as are those below. */
  image?: { path: string; width: number; height: number; alt: string };
  previous?: string | undefined;
  next?: string | undefined;
  items?: readonly JsonLd[];
  feed?: { title: string; path: string };
};

export function inLanguageOf(path: string, language: Language): string {
  return `${path}${path.includes('?') ? '&' : '?'}lang=${language}`;
}

export function searchMetadata(
  { url, name, languages }: Site,
  title: string,
  { canonical, description, image, ...list }: SearchMetadata,
  isLanguageInAddress: boolean,
): Html {
  const own = isLanguageInAddress ? inLanguageOf(canonical, languageNow()) : canonical;
  const card = image
    ? html`<meta property="og:image" content="${url}${image.path}" />
    <meta property="og:image:width" content="${String(image.width)}" />
    <meta property="og:image:height" content="${String(image.height)}" />
    <meta property="og:image:alt" content="${image.alt}" />
    <meta name="twitter:card" content="summary_large_image" />`
    : '';
  return html`<meta name="description" content="${description}" />
    <link rel="canonical" href="${url}${own}" />
    <link rel="alternate" hreflang="x-default" href="${url}${canonical}" />
    ${languages.map(
      (language) =>
        html`<link rel="alternate" hreflang="${language}" href="${url}${inLanguageOf(canonical, language)}" />`,
    )}
    ${list.previous ? html`<link rel="prev" href="${url}${list.previous}" />` : ''}
    ${list.next ? html`<link rel="next" href="${url}${list.next}" />` : ''}
    ${list.feed ? feedLink(url, list.feed) : ''}
    ${list.items ? jsonLdBlock(list.items) : ''}
    <meta property="og:type" content="website" />
    <meta property="og:site_name" content="${name}" />
    <meta property="og:title" content="${title}" />
    <meta property="og:description" content="${description}" />
    <meta property="og:url" content="${url}${own}" />
    ${card}`;
}

/** English is the default of feeds, so its link has no `lang`. */
function feedLink(url: string, { title, path }: { title: string; path: string }): Html {
  const language = languageNow();
  const address = language === 'en' ? path : inLanguageOf(path, language);
  return html`<link rel="alternate" type="application/atom+xml" title="${title}" href="${url}${address}" />`;
}
