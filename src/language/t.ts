import { html } from 'hono/html';
import { IntlMessageFormat } from 'intl-messageformat';
import { GERMAN } from './german.ts';
import { type Language, LOCALES, languageNow } from './language.ts';
import type { Html, Made, NeedsNothing, PlainTag, Value, Values } from './messages.ts';

/** An English text that every language has (see german.ts). */
export type Message = keyof typeof GERMAN;

/** A text without placeholders and elements. */
export type Text = { [K in Message]: NeedsNothing<K> extends true ? K : never }[Message];

/** The texts of each language by the English text; English texts are their own. */
const CATALOGUES: Record<Exclude<Language, 'en'>, Readonly<Record<string, string>>> = { de: GERMAN };

const PLAIN_TAGS: Record<PlainTag, (parts: unknown) => Html> = {
  bdi: (parts) => html`<bdi>${parts}</bdi>`,
  strong: (parts) => html`<strong>${parts}</strong>`,
  em: (parts) => html`<em>${parts}</em>`,
  code: (parts) => html`<code>${parts}</code>`,
};

const formats = new Map<string, IntlMessageFormat>();

/**
 * A text in the language of the page in work (`languageNow`). `text` is the English one, in ICU MessageFormat: values
 * replace `{name}`, and a function makes the element of `<name>…</name>`. The result is a string, or a part of a page
 * when the text has elements or a value is a part of a page; values are escaped there.
 */
export function t(text: Text): string;
export function t<K extends Exclude<Message, Text>, const V extends Values<K>>(
  text: K,
  values: V,
): Made<K, V>;
export function t(text: string, values?: Record<string, Value | ((text: Html) => Html)>): string | Html {
  if (!values && !text.includes('<')) return patternOf(text);
  const parts = formatFor(text).format({ ...PLAIN_TAGS, ...elements(values ?? {}) });
  if (Array.isArray(parts)) return html`${parts}`;
  return typeof parts === 'object' ? (parts as Html) : String(parts);
}

/** A text that is not known before, such as that of an error. Without a translation it stays English. */
export function translated(text: string, values?: Record<string, string | number>): string {
  return values ? String(formatFor(text).format(values)) : patternOf(text);
}

function patternOf(text: string): string {
  const language = languageNow();
  if (language === 'en') return text;
  const catalogue = CATALOGUES[language];
  return Object.hasOwn(catalogue, text) ? (catalogue[text] ?? text) : text;
}

/** The format gives an element's content in parts. */
function elements(values: Record<string, Value | ((text: Html) => Html)>) {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'function' ? (parts: unknown) => value(html`${parts}`) : value,
    ]),
  );
}

function formatFor(text: string): IntlMessageFormat {
  const language = languageNow();
  const key = `${language}:${text}`;
  let format = formats.get(key);
  if (!format) {
    format = new IntlMessageFormat(patternOf(text), LOCALES[language]);
    formats.set(key, format);
  }
  return format;
}

/** Names a text where the language is not known yet, as in a constant. `t` or `translated` makes it later. */
export function defineMessage<K extends Message>(text: K): K {
  return text;
}
