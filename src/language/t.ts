import { html } from 'hono/html';
import { IntlMessageFormat } from 'intl-messageformat';
import type en from './catalogues/en.json';
import { languageNow, localeOf, translationOf } from './language.ts';
import type { Html, Made, NeedsNothing, PlainTag, Value, Values } from './text-types.ts';

/** `npm run generate` finds the texts in the code and lists them in en.json. */
type Message = keyof typeof en;

export type PlainMessage = { [K in Message]: NeedsNothing<K> extends true ? K : never }[Message];

declare const english: unique symbol;

/**
 * A text of `defineMessage` or `filled`. It is a string (of `filled`: an object) at run time, and a symbol for the type
 * check: no template accepts a symbol, so a page cannot show the text before `t` translates it.
 */
export type Untranslated<K extends Message = Message> = symbol & { readonly [english]: K };

export type Text = Untranslated<PlainMessage>;

const PLAIN_TAGS: Record<PlainTag, (parts: unknown) => Html> = {
  bdi: (parts) => html`<bdi>${parts}</bdi>`,
  strong: (parts) => html`<strong>${parts}</strong>`,
  em: (parts) => html`<em>${parts}</em>`,
  code: (parts) => html`<code>${parts}</code>`,
};

const formats = new Map<string, IntlMessageFormat>();

/**
 * Translates a text into the language of `languageNow`. `text` is English, in ICU MessageFormat: values replace
 * `{name}`, and a function makes the element of `<name>…</name>`. If the text has elements, or a value is `Html`, the
 * result is `Html` with escaped values.
 */
export function t(text: PlainMessage | Text): string;
export function t<K extends Exclude<Message, PlainMessage>, const V extends Values<K>>(
  text: K | Untranslated<K>,
  values: V,
): Made<K, V>;
export function t(
  message: Message | Untranslated,
  values?: Record<string, Value | ((text: Html) => Html)>,
): string | Html {
  if (typeof message === 'object') return formatted(message as unknown as Filled);
  const text = message as Message;
  if (!values && !text.includes('<')) return translated(text);
  const parts = formatFor(text).format({ ...PLAIN_TAGS, ...elements(values ?? {}) });
  if (Array.isArray(parts)) return html`${parts}`;
  return typeof parts === 'object' ? (parts as Html) : String(parts);
}

/**
 * An error that was created before the language was known has an English message. Messages that are no text of the
 * catalogue are returned unchanged.
 */
export function translated(sentence: string): string {
  return translationOf(sentence, languageNow());
}

type Filled = { text: Message; values: Record<string, string | number> };

function formatted({ text, values }: Filled): string {
  return String(formatFor(text).format(values));
}

export function filled<K extends Exclude<Message, PlainMessage>>(
  text: Untranslated<K>,
  values: Values<K> & Record<string, string | number>,
): Text {
  return { text, values } as unknown as Text;
}

/** MessageFormat passes an element's content as several parts. */
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
  // An operator's own text may replace a text while the process runs.
  const translation = translated(text);
  const key = `${language}:${translation}`;
  let format = formats.get(key);
  if (!format) {
    format = new IntlMessageFormat(translation, localeOf(language));
    formats.set(key, format);
  }
  return format;
}

/** For a text that is stored or is the message of an error, so it stays a string. `translated` translates it later. */
export function sourceText<const T extends PlainMessage | Readonly<Record<string, PlainMessage>>>(
  text: T,
): T {
  return text;
}

/** The admin area is only in English: `t` changes nothing. */
export function inEnglish<Code extends string>(texts: Record<Code, string>): Record<Code, Text> {
  return texts as unknown as Record<Code, Text>;
}

export function defineMessage<K extends Message>(text: K): Untranslated<K> {
  return text as unknown as Untranslated<K>;
}
