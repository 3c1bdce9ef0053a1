import { Parser } from 'htmlparser2';

/** Attributes whose text users read or hear. */
const READ = ['aria-label', 'title', 'placeholder', 'alt'];
/** Elements whose content is the same in all languages: code, names, addresses, and text of users. */
const AS_IT_IS = ['script', 'style', 'code', 'pre', 'bdi', 'time', 'textarea'];

/** Common English words that are not German words. */
const ENGLISH =
  /\b(the|of|is|are|with|this|that|your|you|not|and|for|to|has|have|by|from|or|be|it|its|at|no|when|who|which|votes|players|reviews?|unknown|never|none|yes)\b/i;

/** Words that are the same in German. */
const SAME =
  /^(server|status|name|version|discord|video|website|online|offline|premium|dashboard|browser|code|port|token|tokens|host|link|links|banner|icon|shop|api|imprint|utc|http|https?:\/\/\S+|\S+@\S+|play\.example\.org|vote-?(listener|reward|ing)?|votifier v\d|banner, \w+|acknowledged|owner|\W*)$/i;

/**
 * The English texts on a German page: those with English words, and those that are also on the English page.
 *
 * @param names - texts of the sample data, which are not translated
 */
export function untranslated(german: string, english: string, names: string[]): string[] {
  const same = new Set(textsOf(english));
  const rest = (text: string) => names.reduce((left, name) => left.replaceAll(name, ''), text).trim();
  const isEnglish = (text: string) =>
    !SAME.test(rest(text)) && (ENGLISH.test(rest(text)) || (same.has(text) && /\p{L}{3}/u.test(rest(text))));
  return [...new Set(textsOf(german).filter(isEnglish))];
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
