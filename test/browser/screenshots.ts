/**
 * `npm run screenshots`: takes the pictures of `docs/screenshots` that are old, or names them (`--check`), or takes a
 * picture of every page (`--all`).
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Option } from 'commander';
import { type Browser, chromium, type Page } from 'playwright-core';
import sharp from 'sharp';
import { MINUTE, SECOND } from '../../src/platform/clock.ts';
import { ownEnvironment } from '../../src/platform/environment.ts';
import { onStopSignal } from '../../src/platform/stop-signals.ts';
import { script } from '../support/script-options.ts';
import { FLAGS } from './browser-flags.ts';
import { takeEveryPage } from './every-page.ts';
import { findChromium } from './find-chromium.ts';
import { film, joinFrames } from './moving-picture.ts';
import { fillForPictures, fillQueues, SHOWN_AT } from './picture-data.ts';
import { FILES, filesOf, MOVING, PICTURES, type Picture } from './pictures.ts';
import type { Reader } from './sample-pages.ts';
import { type Ends, openStillSite, type StillSite } from './still-site.ts';
import { hashOf, openPicture, openStillTab } from './take-picture.ts';

const FOLDER = fileURLToPath(new URL('../../docs/screenshots/', import.meta.url));
const HASHES = join(FOLDER, 'hashes.json');
const EVERY_PAGE = fileURLToPath(new URL('../../.data/screenshots/', import.meta.url));
const LONGEST_MS = 10 * MINUTE;
const NAMES = [...PICTURES.map(({ name }) => name), MOVING];

const command = script(
  'npm run screenshots --',
  'Takes the pictures of docs/screenshots whose page or styles have changed since they were taken.',
)
  .usage('[options] [picture...]')
  .addHelpText('after', `\nPictures: ${NAMES.join(', ')}`)
  .argument('[picture...]', 'take these, even if nothing has changed')
  .allowExcessArguments()
  .addOption(
    new Option(
      '--check',
      'write nothing; name the old pictures, with exit code 1 if there are any',
    ).conflicts('all'),
  )
  .option('--all', 'take a picture of every page instead, into .data/screenshots')
  .parse();
const { check = false, all = false } = command.opts<{ check?: true; all?: true }>();
const unknown = command.args.filter((name) => !NAMES.includes(name));
if (unknown.length > 0) command.error(`There is no picture ${unknown.join(', ')}.`);

const ends: Ends = [];
const stopping = new AbortController();
const work = all ? takeAll() : run();

onStopSignal({
  first() {
    console.log('Stopping …');
    stopping.abort();
    void endAll().then(() => process.exit(130));
  },
  second: () => process.exit(130),
});
try {
  const code = await Promise.race([work, tooLate()]);
  await endAll();
  process.exit(code);
} catch (error) {
  // If it was interrupted: what is closed under the work makes it fail, and the signal's handler ends the process.
  if (!stopping.signal.aborted) {
    console.error(error);
    await endAll();
    process.exit(1);
  }
}

/** Without it, a run would wait for ever if a page does not come to show what is waited for. */
async function tooLate(): Promise<never> {
  await pause(LONGEST_MS, undefined, { ref: false });
  throw new Error(`The pictures were not ready within ${LONGEST_MS / MINUTE} minutes.`);
}

/** Cleans up, also after what the interrupted work still opens. */
async function endAll(): Promise<void> {
  const endNow = async () => {
    for (let end = ends.pop(); end; end = ends.pop()) await end().catch(console.error);
  };
  await endNow();
  await Promise.race([work.catch(() => undefined), pause(10 * SECOND)]);
  await endNow();
}

async function openBrowser({ url, host }: StillSite): Promise<Browser> {
  const executablePath = findChromium(ownEnvironment());
  if (!executablePath) throw new Error('no Chromium on PATH: install one, or name it in CHROMIUM');
  const browser = await chromium.launch({
    executablePath,
    args: [...FLAGS, `--host-resolver-rules=MAP ${new URL(url).host} ${host}`],
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  ends.push(() => browser.close());
  return browser;
}

async function takeAll(): Promise<number> {
  const site = await openStillSite(SHOWN_AT, ends, stopping.signal);
  await takeEveryPage(site, await openBrowser(site), EVERY_PAGE, ends);
  console.log(`The pictures are in ${EVERY_PAGE}`);
  return 0;
}

async function run(): Promise<number> {
  const hashes: Record<string, string> = existsSync(HASHES) ? JSON.parse(await readFile(HASHES, 'utf8')) : {};
  const old: string[] = [];
  /** Notes whether a picture is old. Unless pictures are only checked: writes its files if it is, or if it was named. */
  const compare = async (
    picture: Pick<Picture, 'name' | 'hasDark'>,
    look: string,
    draw: () => Promise<Buffer>[],
  ) => {
    stopping.signal.throwIfAborted();
    const { name } = picture;
    const files = filesOf(picture);
    const hash = hashOf(look);
    const isThere = files.every((file) => existsSync(join(FOLDER, file)));
    const isOld = hashes[name] !== hash;
    if (isOld || !isThere) {
      old.push(name);
      const why = isThere ? 'the page has changed since' : 'it is missing';
      if (check) console.log(`old: ${files.join(', ')}: ${why}; run npm run screenshots`);
    }
    if (check || !(isOld || !isThere || command.args.includes(name))) return;
    for (const [index, bytes] of (await Promise.all(draw())).entries())
      await writeFile(join(FOLDER, files[index] ?? ''), bytes);
    hashes[name] = hash;
    console.log(`taken: ${files.join(', ')}`);
  };
  await takePictures(compare);
  if (check) {
    if (old.length === 0) console.log(`${NAMES.length} pictures show today's pages.`);
    return old.length === 0 ? 0 : 1;
  }
  for (const file of await readdir(FOLDER))
    if (![...FILES, 'hashes.json'].includes(file)) await rm(join(FOLDER, file));
  const kept = NAMES.toSorted().map((name) => [name, hashes[name]]);
  await writeFile(HASHES, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
  return 0;
}

type Compare = (
  picture: Pick<Picture, 'name' | 'hasDark'>,
  look: string,
  draw: () => Promise<Buffer>[],
) => Promise<void>;

async function takePictures(compare: Compare): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const site = await openStillSite(SHOWN_AT, ends, stopping.signal);
  const data = await fillForPictures(site, ends);
  const browser = await openBrowser(site);
  const player = await openStillTab(browser, site.url);
  const owner = await openStillTab(browser, site.url, data.users.owner);
  // Later, workers would send the vote before it is shown as one that waits.
  const { frames, look } = await film(site, data, { player, owner });
  await compare({ name: MOVING }, look, () => [joinFrames(frames)]);
  site.clock.set(SHOWN_AT);
  await site.deps.voteCounts.flush();
  await fillQueues(site, ends);
  const tabs: Record<Reader, Page> = {
    stranger: await openStillTab(browser, site.url),
    owner,
    // Not earlier: the site keeps the counts of the inbox for some seconds, and the sign-in reads them.
    operator: await openStillTab(browser, site.url, data.users.operator),
  };
  for (const picture of PICTURES) {
    const page = tabs[picture.reader];
    const looks: string[] = [];
    const pngs: Buffer[] = [];
    for (const colorScheme of picture.hasDark ? (['light', 'dark'] as const) : (['light'] as const)) {
      await page.emulateMedia({ colorScheme });
      looks.push(await openPicture(page, picture.path(data), picture));
      if (!check) pngs.push(await page.screenshot({ animations: 'disabled' }));
    }
    await compare(picture, looks.join('\n'), () =>
      pngs.map((png) => sharp(png).webp({ quality: 82, effort: 6 }).toBuffer()),
    );
  }
}
