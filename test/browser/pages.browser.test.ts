import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Language, SHIPPED_LANGUAGES, shippedTexts } from '../../src/language/language.ts';
import { setAnnouncement } from '../../src/moderation/announcements.ts';
import { untranslated } from '../site/untranslated.ts';
import { bodyOf, formsOf, type Mistake, mistakesOf, type PageForm } from '../site/wrongly-filled-forms.ts';
import { PAGES, type Reader, type SamplePage, STATES, sampleIds } from './sample-pages.ts';
import { type SampleSite, startSampleSite } from './sample-site.ts';
import { halfOf } from './second-window.ts';
import { chromium, DARK_PHONE, launchBrowser, openTab, type Tab, type TabOptions } from './tab.ts';

/** The language whose short texts, such as buttons and heads of columns, are the longest. */
const LONGEST = SHIPPED_LANGUAGES.map((language): [Language, number] => [language, lengthOf(language)])
  .toSorted(([, one], [, other]) => other - one)
  .map(([language]) => language)[0] as Language;

function lengthOf(language: Language): number {
  const short = Object.entries(shippedTexts(language)).filter(([source]) => source.length <= 30);
  return short.reduce((sum, [, text]) => sum + text.length, 0);
}

const SMALL_PHONE = { width: 320, height: 720 };

const ALL = [...PAGES, ...STATES];
const { half: HALF, which } = halfOf(ALL);

/** Pages that are not translated: those for operators, developers and other sites, and the operator's own texts. */
const NOT_OURS =
  /^\/(operator|styleguide$)|\/widget$|^\/(contact|imprint|privacy|terms)$|^decided reviews$|admin area/;

/** The pages that exist in every language. */
const TRANSLATED = ALL.filter(({ route, name }) => !NOT_OURS.test(route) && !NOT_OURS.test(name ?? ''));

const named = (pages: SamplePage[]) => pages.map((one) => [one.name ?? one.route, one] as const);

let site: SampleSite;

// One site for all: with its sample data it costs more than the pages of both languages by HTTP.
beforeAll(async () => {
  site = await startSampleSite();
  const text = '# We move\n\nOn **Sunday**: [the news](https://example.org/news)\n\n- `votes` go on';
  await setAnnouncement(site.deps, { text, level: 'warning', until: null }, 'cli');
});

/** The English texts on a page in each language that must have none. `read` opens the page in a language. */
async function untranslatedIn(read: (language: Language) => Promise<string>): Promise<string[]> {
  const english = await read('en');
  // A text that is in the code as English only is so in every other language.
  return untranslated('de', await read('de'), english, site.names);
}

describe('every public page and every page of an owner is in the language of who reads it', () => {
  test.each(named(TRANSLATED))('%s', async (_name, one) => {
    const left = await untranslatedIn(async (language) => {
      const headers = { accept: 'text/html', 'accept-language': language, cookie: site.cookies[one.reader] };
      const path = one.path(site.of);
      const answer = await fetch(`${site.url}${path}`, { headers });
      expect([answer.status, new URL(answer.url).pathname]).toEqual([
        one.status ?? 200,
        path.replace(/\?.*/, ''),
      ]);
      const page = await answer.text();
      expect(page.match(/<html lang="([^"]+)">/)?.[1]).toBe(language);
      return page;
    });
    expect(left).toEqual([]);
  });
});

describe.skipIf(!chromium)('the pages, with much in them and with nothing', () => {
  let wide: Record<Reader, Tab>;
  let phone: Record<Reader, Tab>;

  beforeAll(async () => {
    console.log(`In the dark and in the longest language (${LONGEST}) on a small phone: ${which}.`);
    const browser = await launchBrowser();
    wide = await tabs(browser, { viewport: { width: 1200, height: 800 } });
    phone = await tabs(browser, { ...DARK_PHONE, viewport: SMALL_PHONE, locale: LONGEST, rules: 'variant' });
  });

  async function tabs(browser: Browser, options: TabOptions): Promise<Record<Reader, Tab>> {
    const tabOf = async (reader: Reader) => {
      const tab = await openTab(browser, site.url, options);
      if (reader !== 'stranger') await tab.signInHere({ headers: { cookie: site.cookies[reader] } });
      await tab.checkEachPage();
      return tab;
    };
    return {
      stranger: await tabOf('stranger'),
      owner: await tabOf('owner'),
      operator: await tabOf('operator'),
    };
  }

  async function visit({ page, check }: Tab, one: SamplePage): Promise<void> {
    const path = one.path(site.of);
    const answer = await page.goto(`${site.url}${path}`);
    expect(answer?.status(), path).toBe(one.status ?? 200);
    expect(new URL(page.url()).pathname, path).toBe(path.replace(/\?.*/, ''));
    await check();
  }

  test.each(
    named(ALL),
  )('%s in the light on a wide page: anybody can use it, and it is small, as wide as its window and all ours', (_name, one) =>
    visit(wide[one.reader], one));

  test.each(
    named(HALF),
  )('%s in the longest language and the dark on a small phone: anybody can use it, and it is small, as wide as its window and all ours', (_name, one) =>
    visit(phone[one.reader], one));

  test('on a phone, tables of charts and the second factor’s secret are whole, and no navigation is cut', async () => {
    const { page, check } = wide.owner;
    await page.setViewportSize({ width: 390, height: 844 });
    const cut = () =>
      page.evaluate(
        `[...document.querySelectorAll('.chart-numbers, .copyable pre')].filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)`,
      );
    await page.goto(`${site.url}/servers/${site.of.slugs.harbour}`);
    await page.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = true; })`);
    expect(await page.locator('.chart-numbers table').count()).toBeGreaterThan(2);
    expect(await cut()).toEqual([]);
    await check();

    await page.goto(`${site.url}/account/two-factor`);
    await page.getByLabel('Your password').fill(site.of.users.owner.password);
    await page.getByRole('button', { name: 'Set up' }).click();
    await page.getByLabel('Secret').first().waitFor();
    expect(await cut()).toEqual([]);

    const admin = wide.operator.page;
    await admin.setViewportSize({ width: 390, height: 844 });
    await admin.goto(`${site.url}/operator/settings`);
    // Links that do not fit on a line wrap: none is cut, and none must be looked for sideways.
    const cutNavigations = await admin.evaluate<string[]>(
      `[...document.querySelectorAll('.site-head nav, .tabs')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.className)`,
    );
    expect(cutNavigations).toEqual([]);
    const tab = await admin.locator('.tabs [aria-current]').boundingBox();
    expect((tab?.x ?? 999) + (tab?.width ?? 0)).toBeLessThan(390);
  });
});

/** The routes to which forms were sent, each with the mistakes that were made. */
const posted = new Set<string>();

describe('the errors of every form are in the language of who reads them', () => {
  /** The paths of the forms of public, account and owner pages: `/servers/:slug/vote`. */
  let formRoutes: string[];

  beforeAll(() => {
    formRoutes = site.routes
      .filter(({ method, access }) => method === 'POST' && access !== 'operator')
      .map(({ url }) => url);
  });

  type Reading = { language: string; cookie: string; page: string };

  /**
   * The page after a form was sent; if the answer is a redirect, the page behind it; if it is JSON, the sentence of the
   * error.
   */
  async function answerTo(form: PageForm, mistake: Mistake, reading: Reading, origin = site.url) {
    const headers = { accept: 'text/html', 'accept-language': reading.language, cookie: reading.cookie };
    const address = new URL(form.action, reading.page);
    const answer = await fetch(address, {
      method: 'POST',
      body: bodyOf(form, mistake),
      headers: { ...headers, origin },
      redirect: 'manual',
    });
    const next = answer.headers.get('location');
    if (next !== null) return (await fetch(new URL(next, address), { headers })).text();
    if (answer.headers.get('content-type')?.startsWith('text/html')) return answer.text();
    const { error = '' } = (await answer.json()) as { error?: string };
    return error;
  }

  test.each(named(TRANSLATED))('%s', async (_name, one) => {
    const page = `${site.url}${one.path(site.of)}`;
    const cookie = site.cookies[one.reader];
    const opened = await fetch(page, { headers: { accept: 'text/html', cookie } });
    const found: Record<string, string[]> = {};
    for (const form of formsOf(await opened.text())) {
      for (const mistake of mistakesOf(form)) {
        const path = new URL(form.action, page).pathname;
        const route = formRoutes.find((known) => matches(path, known)) ?? path;
        if (posted.has(`${route} ${mistake}`)) continue;
        posted.add(`${route} ${mistake}`);
        const left = await untranslatedIn((language) => answerTo(form, mistake, { language, cookie, page }));
        if (left.length > 0) found[`${path}, ${mistake}`] = left;
      }
    }
    expect(found).toEqual({});
  });

  test('a form of another site', async () => {
    const { url } = site;
    const form = { action: '/sign-in', isUpload: false, fields: [] };
    const elsewhere = (language: string) =>
      answerTo(form, 'nothing', { language, cookie: '', page: url }, 'https://elsewhere.example');
    expect(await elsewhere('en')).toContain('This form was not sent from this site.');
    expect(await untranslatedIn(elsewhere)).toEqual([]);
  });

  test('too many attempts to sign in', async () => {
    const fields = ['email', 'password'].map((name) => ({ name, type: name, value: '' }));
    const form = { action: '/sign-in', isUpload: false, fields };
    const attempt = (language: string) => answerTo(form, 'wrong', { language, cookie: '', page: site.url });
    while (!(await attempt('en')).includes('Too many'));
    expect(await untranslatedIn(attempt)).toEqual([]);
  });

  test('forms that no page of the sample data shows', async () => {
    const ids = sampleIds(site.of);
    const sent = [...posted].map((one) => one.split(' ')[0] ?? '');
    const others = formRoutes
      .filter((route) => !sent.includes(route))
      .toSorted((one, other) => Number(ENDS_SESSIONS.test(one)) - Number(ENDS_SESSIONS.test(other)));
    const found: Record<string, string[]> = {};
    for (const route of others) {
      const action = route.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? NO_ID);
      const form = { action, isUpload: false, fields: [] };
      const reading = { cookie: site.cookies.owner, page: site.url };
      const left = await untranslatedIn((language) => answerTo(form, 'nothing', { ...reading, language }));
      if (left.length > 0) found[route] = left;
    }
    expect(found).toEqual({});
  });
});

const NO_ID = '0'.repeat(24);

/** These forms end the owner's session, which the other forms need. */
const ENDS_SESSIONS = /^\/sign-out$|\/end-all$/;

/** Whether a path belongs to a route such as `/servers/:slug/vote`. */
function matches(path: string, route: string): boolean {
  const [own, pattern] = [path.split('/'), route.split('/')];
  return (
    own.length === pattern.length && pattern.every((part, at) => part.startsWith(':') || part === own[at])
  );
}
