import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import markdownIt from 'markdown-it';
import { defineMessage } from '../language/t.ts';
import type { Config } from '../platform/config.ts';
import { ConfigError } from '../platform/environment.ts';

/** In the order of the footer. In `SITE_PAGES_DIR`, each is a file `<name>.md`. */
export const SITE_PAGES = {
  contact: defineMessage('Contact'),
  imprint: defineMessage('Imprint'),
  privacy: defineMessage('Privacy'),
  terms: defineMessage('Terms'),
} as const;
export type SitePageName = keyof typeof SITE_PAGES;
const NAMES = Object.keys(SITE_PAGES) as SitePageName[];

export type SitePage = { title: string | null; html: string };
export type SitePages = ReadonlyMap<SitePageName, SitePage>;

const MAX_KILOBYTES = 64;

const markdown = markdownIt({ html: false, linkify: true });
// Inline styles, which the content security policy does not allow.
markdown.core.ruler.push('no-inline-style', ({ tokens }) => {
  for (const token of tokens) token.attrs = token.attrs?.filter(([name]) => name !== 'style') ?? null;
});

/** For texts of operators: HTML and links to scripts in them are shown as text. */
export function renderTrustedMarkdown(text: string): string {
  return markdown.render(text);
}

/**
 * @throws {ConfigError} if the folder cannot be read or has none of the pages; or if a page cannot be read, is empty,
 * is not UTF-8 or has more than 64 KB
 */
export function readSitePages(folder: string | undefined): SitePages {
  if (folder === undefined) return new Map();
  const files = new Set(listFolder(folder));
  const names = NAMES.filter((name) => files.has(`${name}.md`));
  if (names.length === 0) {
    const expected = NAMES.map((name) => `${name}.md`);
    throw new ConfigError([`SITE_PAGES_DIR (“${folder}”) has none of the files ${expected.join(', ')}`]);
  }
  return new Map(names.map((name) => [name, pageOf(readText(join(folder, `${name}.md`)))]));
}

export const PAGE_SETTINGS = {
  contact: 'PAGE_CONTACT',
  imprint: 'PAGE_IMPRINT',
  privacy: 'PAGE_PRIVACY',
  terms: 'PAGE_TERMS',
} as const satisfies Record<SitePageName, keyof Config>;

/**
 * `SITE_PAGES_DIR` is read once. Without it, the pages are stored settings, which may change while the process runs.
 * @throws {ConfigError} as `readSitePages`
 */
export function livePages(config: Config): () => SitePages {
  const { SITE_PAGES_DIR: folder } = config;
  if (folder !== undefined) {
    const pages = readSitePages(folder);
    return () => pages;
  }
  let last: { texts: (string | undefined)[]; pages: SitePages } = { texts: [], pages: new Map() };
  return () => {
    const texts = NAMES.map((name) => config[PAGE_SETTINGS[name]]);
    if (texts.some((text, index) => text !== last.texts[index])) {
      const written = NAMES.flatMap((name, index) => {
        const text = texts[index];
        return text === undefined ? [] : [[name, pageOf(text)] as const];
      });
      last = { texts, pages: new Map(written) };
    }
    return last.pages;
  };
}

export function pageOf(text: string): SitePage {
  const tokens = markdown.parse(text, {});
  const heading = tokens.findIndex(({ tag, level }) => tag === 'h1' && level === 0);
  const words = heading < 0 ? [] : tokens[heading + 1]?.children?.map(({ content }) => content);
  return { title: words?.join('').trim() || null, html: renderTrustedMarkdown(text) };
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throw new ConfigError([`SITE_PAGES_DIR (“${folder}”) cannot be read: ${(error as Error).message}`]);
  }
}

function readText(file: string): string {
  const bytes = readBounded(file);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ConfigError([`SITE_PAGES_DIR: ${file} is not a text in UTF-8`]);
  }
  if (text.trim() === '') throw new ConfigError([`SITE_PAGES_DIR: ${file} is empty`]);
  return text;
}

function readBounded(file: string): Buffer {
  try {
    const stats = statSync(file);
    if (!stats.isFile()) throw new ConfigError([`SITE_PAGES_DIR: ${file} is not a file`]);
    if (stats.size > MAX_KILOBYTES * 1_024) {
      throw new ConfigError([`SITE_PAGES_DIR: ${file} has more than ${MAX_KILOBYTES} KB`]);
    }
    return readFileSync(file);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError([`SITE_PAGES_DIR: ${file} cannot be read: ${(error as Error).message}`]);
  }
}
