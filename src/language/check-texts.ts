import { IntlMessageFormat } from 'intl-messageformat';
import english from './catalogues/en.json' with { type: 'json' };
import { type Language, localeOf, shippedTexts, type Texts } from './language.ts';

type Node = ReturnType<IntlMessageFormat['getAst']>[number];

/** All English texts of the code. A text that a later version does not have is unused. */
export const ENGLISH: Texts = english;

/** The parts of a text, those within others too. @throws if the text is no MessageFormat */
function partsOf(text: string): Node[] {
  const all = (nodes: Node[]): Node[] =>
    nodes.flatMap((node) => [
      node,
      ...('children' in node ? all(node.children) : []),
      ...('options' in node ? Object.values(node.options).flatMap(({ value }) => all(value)) : []),
    ]);
  return all(new IntlMessageFormat(text, 'en').getAst());
}

/** Of MessageFormat's parser. Dates, times, numbers and `select` are not used. */
const KINDS: Record<number, string> = { 1: 'value', 6: 'value', 8: 'element' };

/** The placeholders and elements, as `value page` and `element a`. */
function namesIn(parts: Node[]): Set<string> {
  const named = parts.filter(({ type }) => type !== 0 && type !== 7);
  return new Set(
    named.flatMap((node) =>
      'value' in node ? `${KINDS[node.type] ?? `unusable (${node.type})`} ${node.value}` : [],
    ),
  );
}

/** The placeholders that choose a text by a number: only for these, `t` gets numbers. */
function numbersIn(parts: Node[]): string[] {
  return parts.flatMap((node) => ('pluralType' in node ? node.value : []));
}

/** The categories that the plurals lack, of those that whole numbers have in the language, and those that it has not. */
function wrongCategories(parts: Node[], language: Language): string[] {
  return parts.flatMap((node) => {
    if (!('pluralType' in node)) return [];
    const rules = new Intl.PluralRules(localeOf(language), { type: node.pluralType ?? 'cardinal' });
    const needed = new Set(['other', ...Array.from({ length: 201 }, (_, number) => rules.select(number))]);
    const own = Object.keys(node.options).filter((category) => !category.startsWith('='));
    const known = rules.resolvedOptions().pluralCategories as string[];
    return [
      ...own.filter((category) => !known.includes(category)).map((category) => `“${category}” too many`),
      ...[...needed].filter((category) => !own.includes(category)).map((category) => `“${category}” missing`),
    ];
  });
}

/**
 * Why a translation cannot be shown, in English; null if it can. The placeholders and elements must be those of the
 * English text, and each plural needs the categories of the language (Unicode CLDR).
 */
export function faultOf(language: Language, source: string, translation: string): string | null {
  try {
    const [parts, sourceParts] = [partsOf(translation), partsOf(source)];
    const [names, sourceNames] = [namesIn(parts), namesIn(sourceParts)];
    const lacking = [...sourceNames].filter((name) => !names.has(name));
    const unknown = [...names].filter((name) => !sourceNames.has(name));
    if (lacking.length > 0) return `it lacks the ${lacking.join(', ')}`;
    if (unknown.length > 0) return `the English text has no ${unknown.join(', ')}`;
    const numbers = numbersIn(sourceParts);
    const foreign = numbersIn(parts).find((name) => !numbers.includes(name));
    if (foreign) return `the English text has no plural of ${foreign}`;
    const [category] = wrongCategories(parts, language);
    if (category) return `a plural has the category ${category}`;
    // `t` shows a text without placeholders as it is written.
    const isPlain = names.size === 0;
    if (isPlain && new IntlMessageFormat(translation, 'en').format() !== translation)
      return 'an apostrophe before a bracket hides it: write ’';
    return null;
  } catch (error) {
    return `it is no ICU MessageFormat (${(error as Error).message})`;
  }
}

/** Much longer than the English text: as a button or a head of a column, it may not fit. */
const LONG = { times: 2, more: 12 };

/** A source is suspicious where a translation is the English text, much longer, or broken, with the reason. */
export type TextReport = {
  language: Language;
  translated: number;
  missing: string[];
  unused: string[];
  suspicious: { source: string; reason: string }[];
};

/** Of one language, with an operator's own texts over those of Tallyport if they are given. */
export function reportOf(language: Language, own: Texts = {}): TextReport {
  const texts: Texts = { ...(language === 'en' ? ENGLISH : shippedTexts(language)), ...own };
  const sources = Object.keys(ENGLISH);
  const given = Object.entries(texts).filter(([, text]) => text !== '');
  const known = given.filter(([source]) => Object.hasOwn(ENGLISH, source));
  return {
    language,
    translated: known.length,
    missing: sources.filter((source) => !texts[source]),
    unused: given.map(([source]) => source).filter((source) => !Object.hasOwn(ENGLISH, source)),
    suspicious: known.flatMap(([source, text]) => {
      const reason = faultOf(language, source, text) ?? (language === 'en' ? null : oddity(source, text));
      return reason === null ? [] : [{ source, reason }];
    }),
  };
}

function oddity(source: string, text: string): string | null {
  if (text === source && /\p{L}{4}/u.test(text.replace(/<[^>]*>|\{[^}]*\}/g, ''))) return 'same as English';
  const isShort = source.length <= 30 && !source.includes('{');
  if (isShort && text.length > source.length * LONG.times && text.length > source.length + LONG.more)
    return `much longer (${text.length} characters instead of ${source.length})`;
  return null;
}
