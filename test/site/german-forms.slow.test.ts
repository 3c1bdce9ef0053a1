import { beforeAll, describe, expect, test } from 'vitest';
import { type GermanSite, startGermanSite, TRANSLATED_PAGES } from './german-site.ts';
import { bodyOf, formsOf, type Mistake, mistakesOf, type PageForm } from './page-forms.ts';
import { textsOf, untranslated } from './untranslated.ts';

/** The routes to which forms were sent, each with the mistakes that were made. */
const posted = new Set<string>();

describe('the errors of every form are German for who reads German', () => {
  let site: GermanSite;

  beforeAll(async () => {
    site = await startGermanSite();
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

  /** The German texts that were compared with the English answer. */
  const compared = new Set<string>();

  /** The English texts in the German answer to a form. The English answer is asked for only if a text is new. */
  async function englishIn(form: PageForm, mistake: Mistake, reading: Omit<Reading, 'language'>) {
    const german = await answerTo(form, mistake, { ...reading, language: 'de' });
    const texts = textsOf(german);
    if (texts.every((text) => compared.has(text))) return [];
    const english = await answerTo(form, mistake, { ...reading, language: 'en' });
    for (const text of texts) compared.add(text);
    return untranslated(german, english, site.names);
  }

  test.each(
    TRANSLATED_PAGES.map((one) => [one.name ?? one.route, one] as const),
  )('%s', async (_name, one) => {
    const page = `${site.url}${one.path(site.of)}`;
    const cookie = site.cookies[one.reader];
    const opened = await fetch(page, { headers: { accept: 'text/html', cookie } });
    const found: Record<string, string[]> = {};
    for (const form of formsOf(await opened.text())) {
      for (const mistake of mistakesOf(form)) {
        const path = new URL(form.action, page).pathname;
        const route = site.formRoutes.find((known) => matches(path, known)) ?? path;
        if (posted.has(`${route} ${mistake}`)) continue;
        posted.add(`${route} ${mistake}`);
        const left = await englishIn(form, mistake, { cookie, page });
        if (left.length > 0) found[`${path}, ${mistake}`] = left;
      }
    }
    expect(found).toEqual({});
  });

  test('a form of another site', async () => {
    const { url } = site;
    const form = { action: '/sign-in', isUpload: false, fields: [] };
    const [german, english] = await Promise.all(
      ['de', 'en'].map((language) =>
        answerTo(form, 'nothing', { language, cookie: '', page: url }, 'https://elsewhere.example'),
      ),
    );
    expect(english).toContain('This form was not sent from this site.');
    expect(untranslated(german ?? '', english ?? '', site.names)).toEqual([]);
  });

  test('too many attempts to sign in', async () => {
    const fields = ['email', 'password'].map((name) => ({ name, type: name, value: '' }));
    const form = { action: '/sign-in', isUpload: false, fields };
    const attempt = (language: string) => answerTo(form, 'wrong', { language, cookie: '', page: site.url });
    let [german, english] = ['', ''];
    while (!english.includes('Too many')) [german, english] = [await attempt('de'), await attempt('en')];
    expect(untranslated(german, english, site.names)).toEqual([]);
  });

  test('forms that no page of the sample data shows', async () => {
    const { harbour, ownerId, draftId, voteId, slugs } = site.of;
    const ids: Record<string, string> = {
      slug: slugs.harbour,
      serverId: harbour.toHexString(),
      draftId: draftId.toHexString(),
      userId: ownerId.toHexString(),
      voteId: voteId.toString(),
    };
    const sent = [...posted].map((one) => one.split(' ')[0] ?? '');
    const others = site.formRoutes
      .filter((route) => !sent.includes(route))
      .toSorted((one, other) => Number(ENDS_SESSIONS.test(one)) - Number(ENDS_SESSIONS.test(other)));
    const found: Record<string, string[]> = {};
    for (const route of others) {
      const action = route.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? NO_ID);
      const form = { action, isUpload: false, fields: [] };
      const left = await englishIn(form, 'nothing', { cookie: site.cookies.owner, page: site.url });
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
