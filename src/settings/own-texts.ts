import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause, setImmediate } from 'node:timers/promises';
import { type Language, type Texts, useOwnTexts } from '../language/language.ts';
import { SECOND } from '../platform/clock.ts';
import { ConfigError } from '../platform/environment.ts';
import type { Logger } from '../platform/log.ts';

/** The pages are cached for three seconds more, and a change applies within five. */
const LOOK_EVERY_MS = 1.5 * SECOND;

const FILE = /^([a-z]{2,3})\.json$/;

/** Of a file, in bytes. German, with every text, has 300 KB. */
const MOST_BYTES = 2 * 1_024 * 1_024;
const MOST_FILES = 100;

/** Of a file, that are named at once. */
const MOST_MISTAKES = 50;

export type OwnTexts = Record<Language, Texts>;

/**
 * The texts of one file, from the English text to the translation. A text that this version does not have is ignored:
 * an earlier or later version may have it.
 *
 * @throws {ConfigError} with the file and the line of each text that cannot be shown
 */
export async function parseOwnTexts(language: Language, file: string, content: string): Promise<Texts> {
  const { ENGLISH, faultOf } = await import('../language/check-texts.ts');
  const texts = parsed(file, content);
  const mistakes: string[] = [];
  const note = (source: string, fault: string) =>
    mistakes.push(`${file}, line ${lineOf(content, source)}: “${source}”: ${fault}`);
  for (const [index, [source, text]] of Object.entries(texts).entries()) {
    // A text takes some 0.2 ms: votes do not wait for a whole file.
    if (index % 20 === 0) await setImmediate();
    if (typeof text !== 'string') note(source, 'the translation must be a text in quotes');
    else if (text !== '' && Object.hasOwn(ENGLISH, source)) {
      const fault = faultOf(language, source, text);
      if (fault) note(source, fault);
    }
    if (mistakes.length === MOST_MISTAKES) break;
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return texts as Texts;
}

function parsed(file: string, content: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(content.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new ConfigError([`${file}: ${(error as Error).message}`]);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ConfigError([`${file}: it must be an object: {"English text": "translation"}`]);
  return value as Record<string, unknown>;
}

/** The first line if the key is written with escapes that `JSON.stringify` does not use. */
function lineOf(content: string, source: string): number {
  const at = content.indexOf(JSON.stringify(source));
  return content.slice(0, Math.max(0, at)).split('\n').length;
}

type Known = { version: string; texts: Texts };

/** `readChanges` reads the files that changed since its last call. Of a broken file, the last good version stays. */
function createOwnTexts(folder: string) {
  const good = new Map<Language, Known>();
  const refused = new Map<Language, string>();

  async function readOne(language: Language, version: string): Promise<string[]> {
    const file = join(folder, `${language}.json`);
    try {
      if ((await stat(file)).size > MOST_BYTES)
        throw new ConfigError([`${file}: it has more than ${MOST_BYTES / 1_024 ** 2} MB`]);
      good.set(language, {
        version,
        texts: await parseOwnTexts(language, file, await readFile(file, 'utf8')),
      });
      refused.delete(language);
      return [];
    } catch (error) {
      // Another failure may pass, so the file is read again.
      if (!(error instanceof ConfigError)) return [`${file}: ${(error as Error).message}`];
      refused.set(language, version);
      return error.errors;
    }
  }

  /** What is wrong with the changed files. @throws if the folder cannot be read */
  async function readChanges(): Promise<string[]> {
    const found = await versions(folder);
    const isNew = ([language, version]: [Language, string]) =>
      good.get(language)?.version !== version && refused.get(language) !== version;
    const changed = [...found].filter(isNew);
    const removed = [...good.keys()].filter((language) => !found.has(language));
    for (const language of removed) good.delete(language);
    const mistakes = [];
    for (const [language, version] of changed) mistakes.push(...(await readOne(language, version)));
    return mistakes;
  }

  const texts = (): OwnTexts =>
    Object.fromEntries([...good].map(([language, known]) => [language, known.texts]));
  return { readChanges, texts };
}

/** All files of a folder: the texts of those that can be used, and what is wrong with the others. */
export async function readOwnTexts(folder: string): Promise<{ texts: OwnTexts; mistakes: string[] }> {
  const own = createOwnTexts(folder);
  const mistakes = await own.readChanges();
  return { texts: own.texts(), mistakes };
}

/** By language, what changes when its file is written. */
async function versions(folder: string): Promise<Map<Language, string>> {
  const languages = (await readdir(folder)).flatMap((name) => FILE.exec(name)?.[1] ?? []);
  const found = await Promise.all(
    languages.slice(0, MOST_FILES).map(async (language): Promise<[Language, string]> => {
      const known = await stat(join(folder, `${language}.json`)).catch(() => null);
      // One that has just been deleted, or a link to nowhere, is named when it is read.
      return [language, known ? `${known.mtimeMs} ${known.size} ${known.ino}` : 'none'];
    }),
  );
  return new Map(found);
}

/**
 * Keeps the texts up to date with the folder `LANGUAGES_DIR`. A mistake is logged once, also at the start: the site goes
 * on with the texts that it has.
 */
export async function followOwnTexts(folder: string | undefined, log: Logger): Promise<{ close(): void }> {
  if (folder === undefined) return { close: () => undefined };
  const stopping = new AbortController();
  const own = createOwnTexts(folder);
  let known = '';
  const look = async () => {
    const mistakes = await own
      .readChanges()
      .catch((error: unknown) => [`LANGUAGES_DIR cannot be read: ${(error as Error).message}`]);
    useOwnTexts(own.texts());
    // A file that cannot be read is tried again each time.
    if (mistakes.join() !== known)
      for (const mistake of mistakes) log.error({ event: 'language.refused', reason: mistake }, mistake);
    known = mistakes.join();
  };
  await look();
  const following = async () => {
    for (;;) {
      await pause(LOOK_EVERY_MS, undefined, { ref: false, signal: stopping.signal });
      await look();
    }
  };
  void following().catch(() => undefined);
  return { close: () => stopping.abort() };
}
