import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import markdownIt from 'markdown-it';
import { defineMessage } from '../language/t.ts';
import type { Config } from '../platform/config.ts';
import { ConfigError } from '../platform/environment.ts';

/** The pages that an operator can write, in the order of the footer. Each is a file `<name>.md` in `SITE_PAGES_DIR`. */
export const SITE_PAGES = {
  contact: defineMessage('Contact'),
  imprint: defineMessage('Imprint'),
  privacy: defineMessage('Privacy'),
  terms: defineMessage('Terms'),
} as const;
export type SitePageName = keyof typeof SITE_PAGES;

/** A page by the operator: its first heading of level 1, if there is one, and its text as HTML with the heading. */
export type SitePage = { title: string | null; html: string };
export type SitePages = ReadonlyMap<SitePageName, SitePage>;

const MAX_KILOBYTES = 64;

const markdown = markdownIt({ html: false, linkify: true });
// Removes the alignment of table columns, which would be an inline style: the content security policy refuses those.
markdown.core.ruler.push('no-inline-style', ({ tokens }) => {
  for (const token of tokens) token.attrs = token.attrs?.filter(([name]) => name !== 'style') ?? null;
});

/** Renders Markdown by the operator. HTML in it is shown as text, and links to scripts become text. */
export function renderTrustedMarkdown(text: string): string {
  return markdown.render(text);
}

/**
 * Reads the operator's pages from a folder. Without a folder there are none.
 *
 * @throws {ConfigError} when the folder or a page cannot be read, is empty, is not UTF-8, or has more than 64 KB
 */
export function readSitePages(folder: string | undefined): SitePages {
  if (folder === undefined) return new Map();
  const files = new Set(listFolder(folder));
  const names = (Object.keys(SITE_PAGES) as SitePageName[]).filter((name) => files.has(`${name}.md`));
  if (names.length === 0) {
    const expected = Object.keys(SITE_PAGES).map((name) => `${name}.md`);
    throw new ConfigError([`SITE_PAGES_DIR (“${folder}”) has none of the files ${expected.join(', ')}`]);
  }
  return new Map(names.map((name) => [name, pageOf(readText(join(folder, `${name}.md`)))]));
}

/** The names of the settings that store the pages. */
export const PAGE_SETTINGS = {
  contact: 'PAGE_CONTACT',
  imprint: 'PAGE_IMPRINT',
  privacy: 'PAGE_PRIVACY',
  terms: 'PAGE_TERMS',
} as const satisfies Record<SitePageName, keyof Config>;

/**
 * The operator's pages: those of `SITE_PAGES_DIR`, read once, else the stored ones, which may change while the process
 * runs.
 *
 * @throws {ConfigError} as `readSitePages`
 */
export function livePages(config: Config): () => SitePages {
  const { SITE_PAGES_DIR: folder } = config;
  if (folder !== undefined) {
    const pages = readSitePages(folder);
    return () => pages;
  }
  const names = Object.keys(SITE_PAGES) as SitePageName[];
  const textsNow = () => names.map((name) => config[PAGE_SETTINGS[name]]);
  let last: { texts: (string | undefined)[]; pages: SitePages } = { texts: [], pages: new Map() };
  return () => {
    const texts = textsNow();
    if (texts.some((text, index) => text !== last.texts[index])) {
      const written = names.flatMap((name, index) => {
        const text = texts[index];
        return text === undefined ? [] : [[name, pageOf(text)] as const];
      });
      last = { texts, pages: new Map(written) };
    }
    return last.pages;
  };
}

/** A page as it will be shown, from its Markdown. */
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
    throw new ConfigError([`SITE_PAGES_DIR (“${folder}”) cannot be read: ${messageOf(error)}`]);
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
    throw new ConfigError([`SITE_PAGES_DIR: ${file} cannot be read: ${messageOf(error)}`]);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
