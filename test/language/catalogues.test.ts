import { IntlMessageFormat } from 'intl-messageformat';
import { describe, expect, test } from 'vitest';
import english from '../../src/language/catalogues/en.json' with { type: 'json' };
import { LANGUAGES, LOCALES, TEXTS } from '../../src/language/language.ts';
import { COMPLETE } from './complete.ts';

type Node = ReturnType<IntlMessageFormat['getAst']>[number];

/** The parts of a text, those within others too. A broken text throws. */
function partsOf(text: string): Node[] {
  const all = (nodes: Node[]): Node[] =>
    nodes.flatMap((node) => [
      node,
      ...('children' in node ? all(node.children) : []),
      ...('options' in node ? Object.values(node.options).flatMap(({ value }) => all(value)) : []),
    ]);
  return all(new IntlMessageFormat(text, 'en').getAst());
}

function isReadable(text: string): boolean {
  try {
    return partsOf(text).length > 0;
  } catch {
    return false;
  }
}

const isText = (node: Node) => node.type === 0;

/** The names of placeholders and elements, sorted. */
function namesIn(text: string): string[] {
  const names = partsOf(text).flatMap((node) => ('value' in node && !isText(node) ? node.value : []));
  return [...new Set(names)].toSorted();
}

/** The names of the placeholders that choose a text by a number: only for these, `t` gets numbers. */
function numbersIn(text: string): string[] {
  return partsOf(text).flatMap((node) => ('pluralType' in node ? node.value : []));
}

/** The categories that the plurals of a text lack, of those that the language has, and those that it has too many. */
function wrongCategories(text: string, locale: string): string[] {
  return partsOf(text).flatMap((node) => {
    if (!('pluralType' in node)) return [];
    const rules = new Intl.PluralRules(locale, { type: node.pluralType ?? 'cardinal' });
    const needed = new Set(Array.from({ length: 201 }, (_, number) => rules.select(number)));
    const own = Object.keys(node.options).filter((category) => !category.startsWith('='));
    const known = rules.resolvedOptions().pluralCategories as string[];
    return [
      ...own.filter((category) => !known.includes(category)),
      ...[...needed].filter((category) => !own.includes(category)),
    ];
  });
}

describe.each(LANGUAGES)('%s', (language) => {
  const texts = Object.entries<string>(language === 'en' ? english : TEXTS[language]).filter(
    ([, text]) => text !== '',
  );
  const readable = texts.filter(([, text]) => isReadable(text));
  const wrong = (isWrong: (text: string, source: string) => boolean) =>
    readable.filter(([source, text]) => isWrong(text, source)).map(([source]) => source);

  test('each text is one that the code has, in MessageFormat', () => {
    expect.soft(texts.map(([source]) => source).filter((source) => !(source in english))).toEqual([]);
    expect.soft(texts.filter((one) => !readable.includes(one)).map(([source]) => source)).toEqual([]);
  });

  test.runIf(language in COMPLETE)('each text of the code is there', () => {
    const known = new Set(texts.map(([source]) => source));
    expect(Object.keys(english).filter((source) => !known.has(source))).toEqual([]);
  });

  test('a text has the placeholders and elements of the English one', () => {
    // A language may number an attempt without an ending of its own.
    const others = wrong((text, source) => namesIn(text).join() !== namesIn(source).join());
    expect.soft(others).toEqual([]);
    const numbered = wrong((text, source) =>
      numbersIn(text).some((name) => !numbersIn(source).includes(name)),
    );
    expect.soft(numbered).toEqual([]);
  });

  test('a text has the plurals of its language', () => {
    expect(wrong((text) => wrongCategories(text, LOCALES[language]).length > 0)).toEqual([]);
  });

  test('a text without placeholders and elements is shown as it is written', () => {
    const isPlain = (source: string) => namesIn(source).length === 0;
    const shown = (text: string) => new IntlMessageFormat(text, 'en').format();
    expect(wrong((text, source) => isPlain(source) && shown(text) !== text)).toEqual([]);
  });

  if (language !== 'en' && texts.length < Object.keys(english).length)
    console.log(`${language} has ${texts.length} of ${Object.keys(english).length} texts.`);
});
