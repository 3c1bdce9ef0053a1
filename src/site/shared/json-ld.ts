import { type Html, html, raw } from './html.ts';

/** Properties that are undefined are left out. */
export type JsonLd = { '@type': string } & Record<string, unknown>;

/** Characters with a meaning in HTML, and those that end a line in old JavaScript. */
const ESCAPED = /[<>&\u2028\u2029]/g;

/**
 * Browsers do not run it, so the content security policy allows it. Text in it can neither end the block (`</script>`)
 * nor begin a comment (`<!--`).
 */
export function jsonLdBlock(items: readonly JsonLd[]): Html {
  const json = JSON.stringify({ '@context': 'https://schema.org', '@graph': items });
  const escaped = json.replace(
    ESCAPED,
    (sign) => `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
  return html`<script type="application/ld+json">${raw(escaped)}</script>`;
}
