import { beforeEach, describe, expect, test } from 'vitest';
import { changeSettings, readStoredSettings } from '../../src/settings/change-settings.ts';
import { startAnswering } from '../support/answering.ts';
import { codeOf } from '../support/authenticator.ts';
import { startMailServer } from '../support/fake-mail-server.ts';
import { PASSWORD, type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, sendForm, textOf, type WebApp, webAppOfFile } from '../support/web-app.ts';
import { giveTwoFactor } from './account-pages.ts';
import { formsOf } from './wrongly-filled-forms.ts';

const BY = 'other@example.org';
const ENV = { OPERATOR_TWO_FACTOR: 'optional', ALLOWED_PRIVATE_RANGES: '127.0.0.0/8' };
const shared = webAppOfFile(ENV);
let web: WebApp;
let operator: SignedInUser;

async function use(opened: WebApp): Promise<void> {
  web = opened;
  // The process forgets the settings of the test before.
  await web.deps.liveSettings.reload();
  operator = await signIn(web, { role: 'operator', twoFactor: false });
}

const page = (path = '') => getPage(web, `/operator/settings${path}`, operator.headers);
const publicPage = async (path: string) => (await getPage(web, path)).body;

/** Fills in the form at `action` of a page and sends it. */
async function fill(path: string, action: string, values: Record<string, string>) {
  const { body } = await page(path);
  const form = formsOf(body).find((one) => one.action.endsWith(action));
  if (!form) throw new Error(`no form ${action}`);
  const fields = form.fields
    .filter(({ type }) => type !== 'checkbox')
    .map(({ name, value }) => [name, name in values ? '' : value]);
  const shown = { ...Object.fromEntries(fields), ...textAreasOf(body) };
  return sendForm(web, form.action, { ...shown, ...values }, operator.headers);
}

/** The texts of the text areas, which `formsOf` does not read. */
function textAreasOf(body: string): Record<string, string> {
  const areas = body.matchAll(/<textarea[^>]*name="(\w+)"[^>]*>([^<]*)<\/textarea>/g);
  return Object.fromEntries([...areas].map(([, name, text]) => [name, text]));
}

describe('the settings in the admin area', () => {
  beforeEach(() => use(shared()));

  test('name, contact, colour and links are used by the next page, and undone', async () => {
    const saved = await fill('', '/change/site', {
      SERVICE_NAME: 'Quay & Harbour',
      CONTACT: 'help@example.org',
      FOOTER_LINKS: 'Forum https://forum.example.org',
      DEFAULT_LANGUAGE: 'de',
    });
    expect(saved.headers.location).toBe('/operator/settings?done=saved#site');
    await fill('', '/change/look', { ACCENT_COLOUR: '#AA3300' });
    const home = await publicPage('/sign-in');
    expect(home).toContain('Quay &amp; Harbour');
    expect(home).toContain('href="https://forum.example.org"');
    expect(home).toContain('mailto:help@example.org');
    expect(home).toContain('<html lang="de">');
    const [, style = ''] = /<link rel="stylesheet" href="(\/assets\/accent\/[^"]+)"/.exec(home) ?? [];
    expect(style).toBe('/assets/accent/aa3300.css');
    expect(await publicPage(style)).toContain('--accent:');
    expect(await publicPage('/docs/errors')).toContain('Quay &amp; Harbour');

    expect(textOf((await page('/undo')).body)).toContain('#AA3300');
    await fill('/undo', '/undo', {});
    expect(await publicPage('/sign-in')).not.toContain('/assets/accent/');
    expect(textOf((await getPage(web, '/operator/audit', operator.headers)).body)).toContain(
      'Changed settings',
    );
  });

  test.each([
    ['', '/change/site', { SERVICE_NAME: 'x'.repeat(65) }, 'Must have at most 64 characters.'],
    ['/limits', '/change/votes', { WEB_VOTE_PLAYERS: '301' }, 'Must be a whole number, 1 to 300.'],
    ['/limits', '/change/retention', { KEEP_PLAYER_NAMES_MONTHS: '2' }, 'Must be 0 or at least 3'],
    [
      '/mail',
      '/change/mail',
      { SMTP_URL: 'smtp://10.0.0.1', MAIL_FROM: 'a@b.org', password: PASSWORD },
      'is not a public address',
    ],
    [
      '/openid',
      '/change/openid',
      { OIDC_ISSUER: 'https://id.example.org', password: PASSWORD },
      'belong together',
    ],
  ])('%s%s with %o is refused with its reason, and the values stay in the form', async (path, action, values, reason) => {
    const refused = await fill(path, action, values);
    expect(refused.statusCode).toBe(400);
    expect(textOf(refused.body)).toContain(reason);
    expect(refused.body).not.toContain(PASSWORD);
    const [value = ''] = Object.values(values);
    expect(refused.body).toContain(value);
    expect(await readStoredSettings(web.deps)).toBeNull();
  });

  test('who saves what somebody else changed meanwhile is told, and nothing is lost', async () => {
    const form = formsOf((await page()).body).find(({ action }) => action.endsWith('/change/site'));
    await changeSettings(web.deps, { SERVICE_NAME: 'Quay' }, BY);
    const fields = Object.fromEntries(form?.fields.map(({ name, value }) => [name, value]) ?? []);
    const late = await sendForm(
      web,
      '/operator/settings/change/site',
      { ...fields, SERVICE_NAME: 'Harbour' },
      operator.headers,
    );
    expect(late.statusCode).toBe(409);
    expect(textOf(late.body)).toContain('Somebody else changed this meanwhile: Name of the listing.');
    expect(late.body).toContain('value="Harbour"');
    expect(web.deps.config.SERVICE_NAME).toBe('Quay');
  });

  test('a form without its fields changes nothing', async () => {
    await changeSettings(web.deps, { SERVICE_NAME: 'Quay' }, BY);
    const sent = await sendForm(web, '/operator/settings/change/site', { revision: '1' }, operator.headers);
    expect(sent.statusCode).toBe(400);
    expect(web.deps.config.SERVICE_NAME).toBe('Quay');
  });

  test('mail needs the password; its secret is on no page; a worker sends the test mail', async () => {
    const server = await startMailServer();
    startAnswering(web.deps);
    const url = server.url.replace('smtp://', 'smtp://r0b1n:t0p-s3cret@');
    expect(await publicPage('/sign-up')).toContain('name="password"');
    const mail = { SMTP_URL: url, MAIL_FROM: 'votes@example.org' };
    const wrong = await fill('/mail', '/change/mail', { ...mail, password: 'not the password' });
    expect(textOf(wrong.body)).toContain('The password is wrong.');
    expect(wrong.body).toContain(`value="${url}"`);
    expect(web.deps.config.SMTP_URL).toBeUndefined();

    const saved = await fill('/mail', '/change/mail', { ...mail, password: PASSWORD });
    expect(saved.headers.location).toContain('done=saved');
    expect(web.deps.config.SMTP_URL).toBe(url);
    // The form to sign up now sends a link.
    expect(await publicPage('/sign-up')).not.toContain('name="password"');
    const shown = (await page('/mail')).body;
    expect(shown).toContain('Stored: smtp://***@127.0.0.1');
    const audit = (await getPage(web, '/operator/audit', operator.headers)).body;
    const undo = (await page('/undo')).body;
    for (const body of [shown, audit, undo]) expect(body).not.toMatch(/t0p-s3cret|r0b1n/);

    server.behaviour.recipientCode = 550;
    const tested = await fill('/mail', '/test/mail', {});
    expect(textOf(tested.body)).toContain('The test mail was not sent: EENVELOPE');
    delete server.behaviour.recipientCode;
    expect(tested.body).not.toMatch(/t0p-s3cret|r0b1n/);

    await fill('/mail', '/change/mail', { SMTP_URL: server.url, password: PASSWORD });
    expect(textOf((await fill('/mail', '/test/mail', {})).body)).toContain('accepted the test mail');
    expect(server.received).toMatchObject([{ to: operator.email, subject: 'Test mail (Tallyport)' }]);

    const keep = await fill('/mail', '/change/mail', { MAIL_FROM: 'mail@example.org', password: PASSWORD });
    expect(keep.headers.location).toContain('done=saved');
    expect(web.deps.config.SMTP_URL).toBe(server.url);
    const removal = { remove_SMTP_URL: 'yes', MAIL_FROM: '', password: PASSWORD };
    await fill('/mail', '/change/mail', removal);
    expect(web.deps.config.SMTP_URL).toBeUndefined();
  });

  test('a refused address, or a wrong code, keeps what was typed and spends no code; a spent code is said', async () => {
    const { secret } = await giveTwoFactor(web, operator);
    const mail = { SMTP_URL: 'smtp://mail.example.org', MAIL_FROM: 'votes@example.org', password: PASSWORD };
    const code = codeOf(secret, Date.now());
    const send = (values: object) => fill('/mail', '/change/mail', { ...mail, code, ...values });
    const unusable = 'http://mail.example.org';
    const refused = await send({ SMTP_URL: unusable });
    expect([refused.statusCode, refused.body]).toEqual([400, expect.stringContaining(`value="${unusable}"`)]);
    const wrong = await send({ code: '000000' });
    expect(wrong.body).toContain(`value="${mail.SMTP_URL}"`);
    expect(textOf(wrong.body)).toContain('The code is wrong. Wait for the next one');
    expect(web.deps.config.SMTP_URL).toBeUndefined();

    expect((await send({})).headers.location).toContain('done=saved');
    const again = await send({ SMTP_URL: 'smtp://other.example.org' });
    expect(again.body).toContain('value="smtp://other.example.org"');
    expect(textOf(again.body)).toContain(
      'A code works once, and this one was used already, perhaps to sign in. Wait until your app shows the next one.',
    );
    const form = textOf((await page('/mail')).body);
    expect(form).toContain('A code works once, also for signing in: then wait for the next one.');
    expect(form).toContain('For one on this machine or in a private network, set ALLOWED_PRIVATE_RANGES');
    expect(form).toContain('and restart every process.');
  });

  test('the undo of a change of mail needs the password too', async () => {
    await changeSettings(web.deps, { SMTP_URL: 'smtp://mail.example.org', MAIL_FROM: 'a@example.org' }, BY);
    const refused = await fill('/undo', '/undo', { password: '' });
    expect(refused.statusCode).toBe(400);
    expect(web.deps.config.SMTP_URL).toBe('smtp://mail.example.org');
    expect((await fill('/undo', '/undo', { password: PASSWORD })).headers.location).toContain('done=undone');
    expect(web.deps.config.SMTP_URL).toBeUndefined();
  });

  test('sign-in with Discord and OpenID Connect appears and disappears', async () => {
    expect((await sendForm(web, '/sign-in/discord', { next: '' })).statusCode).toBe(404);
    const ids = { DISCORD_CLIENT_ID: '42', DISCORD_CLIENT_SECRET: 'hush-hush', password: PASSWORD };
    await fill('/discord', '/change/discord', ids);
    expect(await publicPage('/sign-in')).toContain('Continue with Discord');
    const leaving = await sendForm(web, '/sign-in/discord', { next: '' });
    expect(leaving.headers.refresh).toContain('client_id=42');
    expect((await page('/discord')).body).not.toContain('hush-hush');
    const openId = {
      OIDC_ISSUER: 'https://id.example.org',
      OIDC_CLIENT_ID: 'listing',
      OIDC_CLIENT_SECRET: 'hush-again',
      OIDC_NAME: 'Our club',
      password: PASSWORD,
    };
    await fill('/openid', '/change/openid', openId);
    expect(await publicPage('/sign-in')).toContain('Continue with Our club');
    const none = { remove_DISCORD_CLIENT_SECRET: 'yes', DISCORD_CLIENT_ID: '', password: PASSWORD };
    await fill('/discord', '/change/discord', none);
    expect(await publicPage('/sign-in')).not.toContain('Continue with Discord');
  });

  test('own pages have a preview, are public at once, and are in the footer', async () => {
    const text = '# Who we are\r\n\r\n<script>alert(1)</script> **Harbour Ltd**';
    expect((await getPage(web, '/imprint')).statusCode).toBe(404);
    const preview = await fill('/pages/imprint', '/pages/imprint', {});
    expect(preview.headers.location).toContain('done=unchanged');
    const shown = await sendForm(
      web,
      '/operator/settings/pages/imprint/preview',
      { revision: '0', text },
      operator.headers,
    );
    expect(shown.body).toContain('<strong>Harbour Ltd</strong>');
    expect(shown.body).not.toContain('<script>alert');
    expect(web.deps.config.PAGE_IMPRINT).toBeUndefined();
    await fill('/pages/imprint', '/pages/imprint', { text });
    const imprint = await publicPage('/imprint');
    expect(imprint).toContain('<h1>Who we are</h1>');
    expect(await publicPage('/sign-in')).toContain('href="/imprint"');
    const long = await fill('/pages/terms', '/pages/terms', { text: 'ß'.repeat(40_001) });
    expect(textOf(long.body)).toContain('Must have at most 40,000 characters.');
  });
});

test('a setting of the environment is shown as fixed, and wins', async () => {
  const fixed = {
    SERVICE_NAME: 'Fixed name',
    SMTP_URL: 'smtp://r0b1n:t0p-s3cret@127.0.0.1:1',
    MAIL_FROM: 'a@example.org',
  };
  await use(await openWebApp({ ...ENV, ...fixed }));
  const { body } = await page();
  expect(textOf(body)).toContain('Fixed: the environment gives SERVICE_NAME.');
  expect(body).not.toContain('name="SERVICE_NAME"');
  expect((await page('/mail')).body).not.toMatch(/t0p-s3cret|r0b1n/);
  await fill('', '/change/site', { SERVICE_NAME: 'Another', NOTICE: 'Closed on Monday' });
  expect(web.deps.config).toMatchObject({ SERVICE_NAME: 'Fixed name', NOTICE: 'Closed on Monday' });
});

test('the colour is previewed with its contrasts before it is saved', async () => {
  await use(shared());
  const preview = await sendForm(
    web,
    '/operator/settings/preview',
    { revision: '0', ACCENT_COLOUR: '#ffee00' },
    operator.headers,
  );
  expect(textOf(preview.body)).toMatch(/Light: #\w{6}. Contrast as text (4\.[5-9]|[5-9]|\d\d)/);
  expect(textOf(preview.body)).toMatch(/Dark: #\w{6}. Contrast as text/);
  expect(web.deps.config.ACCENT_COLOUR).toBeUndefined();
});
