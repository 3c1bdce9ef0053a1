import { expect, test } from 'vitest';
import { renderMarkdown } from '../../src/platform/markdown.ts';
import { cpuMs } from '../support/cpu-time.ts';

const LONGEST = 10_000;
const filled = (unit: string, length = LONGEST) =>
  unit.repeat(Math.ceil(length / unit.length)).slice(0, length);

test('Markdown becomes paragraphs, lower headings, lists, quotes, code and links', () => {
  const text =
    '# Rules\nBe **kind**, *fair* and ~~late~~.\nhttps://example.org/a?b=1&c=2\n\n- one\n  1. two\n\n> quoted\n\n`code`\n\n---\n\n### Map';
  const rendered = renderMarkdown(text);
  for (const part of [
    '<h3>Rules</h3>',
    '<strong>kind</strong>, <em>fair</em> and <s>late</s>.<br />',
    '<a href="https://example.org/a?b=1&amp;c=2" rel="nofollow ugc noopener">https://example.org/a?b=1&amp;c=2</a>',
    '<ul>\n<li>one\n<ol>\n<li>two</li>',
    '<blockquote>\n<p>quoted</p>',
    '<code>code</code>',
    '<hr />',
    '<h4>Map</h4>',
  ])
    expect(rendered).toContain(part);
});

test.each([
  [
    'a name that only looks like another one is shown in ASCII',
    'https://bаnk.example/login',
    '<a href="https://xn--bnk-6cd.example/login" rel="nofollow ugc noopener">https://xn--bnk-6cd.example/login</a>',
  ],
  [
    'an encoded name is not decoded',
    'https://xn--bnk-6cd.example/',
    '<a href="https://xn--bnk-6cd.example/" rel="nofollow ugc noopener">https://xn--bnk-6cd.example/</a>',
  ],
  [
    'a link whose text names another site shows its host',
    '[https://bank.example](https://evil.example/x)',
    '<a href="https://evil.example/x" rel="nofollow ugc noopener">https://bank.example<bdi> (evil.example)</bdi></a>',
  ],
  [
    'a link with a text in marks shows its host too',
    '[**bank**.example](https://evil.example:8443)',
    '<strong>bank</strong>.example<bdi> (evil.example:8443)</bdi></a>',
  ],
  [
    'an automatic link shows its address only',
    '<https://example.org/a>',
    '<a href="https://example.org/a" rel="nofollow ugc noopener">https://example.org/a</a></p>',
  ],
])('%s', (_name, text, expected) => {
  expect(renderMarkdown(text)).toContain(expected);
});

test.each([
  'https://bank.example@evil.example',
  'https://bank.example:pass@evil.example/',
  '[bank](https://bank.example@evil.example)',
  '[bank](https://bank.example%2f@evil.example)',
  '<https://bank.example@evil.example>',
  '[bank](https://\\evil.example)',
  '[bank](https://bank.example\\@evil.example)',
  '[bank](https:/\\evil.example)',
  '[bank](/\\evil.example)',
  '[bank](https:evil.example)',
  '[bank](https:///evil.example)',
  '[bank](<https://bank.example\u200b.evil.example>)',
  '[bank](<https://bank.example .evil.example>)',
])('%s is no link to another site', (text) => {
  const links = [...renderMarkdown(text).matchAll(/href="([^"]*)"[^>]*>([^<]*)</g)];
  // What is left of such an address may be a link, which shows where it leads.
  expect(
    links.filter(([, address, shown]) => address !== 'https://bank.example/' || shown !== address),
  ).toEqual([]);
});

test.each([
  'https://bank@evil.example',
  'https://bank:pass@evil.example',
  'https://bank.example@evil.example',
])('a written address with a user name is no link: %s', (text) => {
  expect(renderMarkdown(`See ${text} and https://ok.example`)).not.toMatch(/href="https:\/\/bank/);
  expect(renderMarkdown(`See ${text} and https://ok.example`)).toContain('href="https://ok.example/"');
});

test('characters that turn the direction of text are left out', () => {
  const rendered = renderMarkdown('\u202eelpmaxe.knab [a\u2067b](https://evil.example) \u2066c\u2069');
  expect(rendered).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  expect(rendered).toContain('>ab<bdi> (evil.example)</bdi></a> c');
});

/** Hostile texts: scripts, addresses that are no links, and texts that are slow for a careless parser. */
const HOSTILE: Record<string, string> = {
  'a script element': '<script>alert(1)</script>',
  'an event attribute': '<img src=x onerror=alert(1)>',
  'an element split by lines': '<svg\n/onload=alert(1)>',
  'a javascript address': '[x](javascript:alert(1))',
  'a javascript address with entities': '[x](&#106;avascript:alert(1))',
  'a javascript address with a tab': '[x](<java\tscript:alert(1)>)',
  'a data address': '[x](data:text/html;base64,PHNjcmlwdD4=)',
  'an address of our own site': '[free votes](/sign-out) [x](//evil.example) [y](?done=saved)',
  'an automatic link with another scheme': '<javascript:alert(1)> <vbscript:x> <mailto:a@example.org>',
  'a quote in an address': '[x](https://example.org/"onmouseover="alert(1))',
  'a title that ends an attribute': '[x](https://example.org "\\"><script>alert(1)</script>")',
  'an image that tracks readers': '![x](https://tracker.example/pixel.png)',
  'a reference that repeats an address': `[a]: https://example.org/${'x'.repeat(4_000)}\n${'[a] '.repeat(1_400)}`,
  'an HTML comment': '<!-- --><style>*{display:none}</style>',
  'a form': '<form action=https://evil.example><input name=password></form>',
  'a code block with a class': '```"><script>alert(1)</script>\n</code><script>alert(1)</script>\n```',
  'headings of the page': '# one\n## two\n<h1>three</h1>',
  'deep quotes': filled(`${'>'.repeat(200)}a\n\n`),
  'deep lists': Array.from({ length: 140 }, (_, depth) => `${' '.repeat(depth)}- a`)
    .join('\n')
    .slice(0, LONGEST),
  'open brackets': filled('['),
  'open links': filled('[a]('),
  'emphasis that never ends': filled('*a _b **c '),
  'many code marks': filled('`a``'),
  'many addresses': filled('https://a.b '),
  'unpaired surrogates and null': `a\ud800b\u0000c`,
};

const TAGS = 'p|br|h3|h4|strong|em|s|ul|ol|li|blockquote|code|pre|hr|a|bdi';

test.each(Object.entries(HOSTILE))('%s stays harmless and small', (_name, text) => {
  const rendered = renderMarkdown(text);
  const tags = rendered.match(/<[^>]*>/g) ?? [];
  const allowed = new RegExp(
    `^</?(${TAGS})( /)?>$|^<ol start="\\d+">$|^<a href="https?://[^"<>]+" rel="nofollow ugc noopener">$`,
  );
  expect(tags.filter((tag) => !allowed.test(tag))).toEqual([]);
  expect(rendered.replace(/<[^>]*>/g, '')).not.toMatch(/[<>]/);
  expect(rendered.length).toBeLessThan(25 * Math.max(text.length, 10));
});

test('the cost of a hostile text grows with its length', () => {
  for (const unit of [
    '[',
    '[a](',
    '*a _b **c ',
    `${'>'.repeat(9)}a\n\n`,
    '`a``',
    'https://',
    '<a@b.c>',
    '<',
    '~~a',
  ]) {
    const cost = (length: number) => {
      const text = filled(unit, length);
      return Math.min(...Array.from({ length: 3 }, () => cpuMs(() => renderMarkdown(text))));
    };
    cost(LONGEST / 4);
    // Linear would be 8; quadratic would be 64.
    expect(cost(2 * LONGEST) / (cost(LONGEST / 4) + 2), unit).toBeLessThan(24);
  }
});
