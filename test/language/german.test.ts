import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { IntlMessageFormat } from 'intl-messageformat';
import { expect, test } from 'vitest';

/** All catalogues: each file of the folder exports one. */
const PARTS: Record<string, string>[] = await Promise.all(
  globSync('src/language/german/*.ts').map(async (file) => {
    const [part] = Object.values(await import(resolve(file)));
    return part as Record<string, string>;
  }),
);
const entries = PARTS.flatMap((part) => Object.entries(part));

type Node = ReturnType<IntlMessageFormat['getAst']>[number];

/** The names of placeholders and elements in a text, sorted. */
function namesIn(text: string): string[] {
  const names = new Set<string>();
  const visit = (node: Node) => {
    if ('value' in node && node.type !== 0) names.add(`${node.type}:${node.value}`);
    if ('children' in node) node.children.forEach(visit);
    if ('options' in node) for (const { value } of Object.values(node.options)) value.forEach(visit);
  };
  new IntlMessageFormat(text, 'en').getAst().forEach(visit);
  return [...names].map((name) => name.replace(/^\d+:/, '')).toSorted();
}

test('a German text has the placeholders and elements of the English one', () => {
  // German numbers an attempt without an ending of its own.
  const differ = entries.filter(
    ([english, german]) => JSON.stringify(namesIn(english)) !== JSON.stringify(namesIn(german)),
  );
  expect(differ.map(([english]) => english)).toEqual([]);
});

test('each text is in one part of the catalogue', () => {
  const keys = entries.map(([english]) => english);
  expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
});

test('each text is used', () => {
  const source = globSync('src/**/*.ts', { exclude: ['src/language/german/*'] })
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
  const isUsed = (text: string) =>
    [`'${text}'`, `"${text}"`, `\`${text}\``].some((literal) => source.includes(literal)) ||
    // The plural that `counted` makes.
    source.includes(`'${text.replace(/s$/, '')}'`);
  expect(entries.map(([english]) => english).filter((text) => !isUsed(text))).toEqual([]);
});
