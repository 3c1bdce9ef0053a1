import { Parser } from 'htmlparser2';
import { type Language, shippedTexts } from '../../src/language/language.ts';

/** Attributes whose text users read or hear. */
const READ = ['aria-label', 'title', 'placeholder', 'alt'];
/** Elements whose content is the same in all languages: code, names, addresses, and text of users. */
const AS_IT_IS = ['script', 'style', 'code', 'pre', 'bdi', 'time', 'textarea'];

/** Common English words. */
const ENGLISH =
  'the of is are with this that your you not and for to has have by from or be it its at no when who which votes players review reviews unknown never none yes'.split(
    ' ',
  );

/** Texts that are the same in every language, codes among them. */
const SAME =
  /^(api|utc|http|https?:\/\/\S+|\S+@\S+|(play|bedrock)\.example\.org|vote-?(listener|reward|ing)?|votifier v\d|acknowledged|\W*)$/i;

/**
 * The English texts on a page in another language: those with English words, and those that are also on the English
 * page and differ in the catalogue of the language.
 *
 * @param names - texts of the sample data, which are not translated
 */
export function untranslated(language: Language, page: string, english: string, names: string[]): string[] {
  const words = new RegExp(`\\b(${ENGLISH.join('|')})\\b`, 'i');
  const alike = new Set(
    Object.entries(shippedTexts(language)).flatMap(([source, text]) =>
      source === text ? text.toLowerCase() : [],
    ),
  );
  const same = new Set(textsOf(english));
  const rest = (text: string) => names.reduce((left, name) => left.replaceAll(name, ''), text).trim();
  const isEnglish = (text: string) => {
    const ours = rest(text);
    if (SAME.test(ours) || alike.has(ours.toLowerCase())) return false;
    return words.test(ours) || (same.has(text) && /\p{L}{3}/u.test(ours));
  };
  return [...new Set(textsOf(page).filter(isEnglish))];
}

/** The texts of a page that come from our code. */
export function textsOf(page: string): string[] {
  const texts: string[] = [];
  const skipped: boolean[] = [];
  const add = (text: string | undefined) => {
    const trimmed = text?.replace(/\s+/g, ' ').trim();
    if (trimmed) texts.push(trimmed);
  };
  const parser = new Parser({
    onopentag(name, { class: of = '', ...attributes }) {
      const isSkipped =
        AS_IT_IS.includes(name) ||
        (name === 'option' && /^[A-Z]{2}$/.test(attributes.value ?? '')) ||
        'dir' in attributes ||
        (name !== 'html' && 'lang' in attributes) ||
        /\b(mono|motd|tags?|prose)\b/.test(of);
      skipped.push(isSkipped || (skipped.at(-1) ?? false));
      if (!skipped.at(-1)) for (const attribute of READ) add(attributes[attribute]);
    },
    ontext(text) {
      if (!skipped.at(-1)) add(text);
    },
    onclosetag() {
      skipped.pop();
    },
  });
  parser.end(page);
  return texts;
}
