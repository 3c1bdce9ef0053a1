import { beforeAll, beforeEach, expect, test } from 'vitest';
import { startAnswering } from '../support/answering.ts';
import { fileForm, picture } from '../support/pictures.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, OWN_ORIGIN, sendForm, textOf, type WebApp, webAppOfFile } from '../support/web-app.ts';
import { formsOf } from './wrongly-filled-forms.ts';

const shared = webAppOfFile({ OPERATOR_TWO_FACTOR: 'optional' });
let web: WebApp;
let operator: SignedInUser;
const publicPage = async (path: string) => (await getPage(web, path)).body;

beforeAll(() => startAnswering(shared().deps));

beforeEach(async () => {
  web = shared();
  // The process forgets the settings of the test before.
  await web.deps.liveSettings.reload();
  operator = await signIn(web, { role: 'operator', twoFactor: false });
});

function upload(bytes: Buffer) {
  const form = fileForm({ name: 'logo', bytes });
  return web.app.inject({
    method: 'POST',
    url: '/operator/settings/logo',
    headers: { ...form.headers, ...OWN_ORIGIN, ...operator.headers, accept: 'text/html' },
    payload: form.payload,
  });
}

test.each([
  'png',
  'webp',
  'svg',
] as const)('a logo as %s is encoded by a worker, previewed, used, undone', async (format) => {
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="100"><path d="M0 0h300v100H0z"/></svg>';
  const bytes = format === 'svg' ? Buffer.from(svg) : await picture(300, 100).toFormat(format).toBuffer();
  const preview = await upload(bytes);
  expect(preview.statusCode).toBe(200);
  const use = formsOf(preview.body).find(({ action }) => action.endsWith('/logo/use'));
  const fields = Object.fromEntries(use?.fields.map(({ name, value }) => [name, value]) ?? []);
  expect(web.deps.config.LOGO_PICTURE).toBeUndefined();
  await sendForm(web, '/operator/settings/logo/use', fields, operator.headers);
  const home = await publicPage('/sign-in');
  const [, href = ''] =
    /<link rel="icon" type="image\/webp" href="(\/pictures\/[0-9a-f]{64}\.webp)"/.exec(home) ?? [];
  expect(home).toContain(`<img src="${href}" alt="" width="84" height="28" />`);
  const served = await getPage(web, href);
  expect(served.headers['content-type']).toBe('image/webp');
  expect(await web.deps.logoUploads.countDocuments()).toBe(0);
  await sendForm(web, '/operator/settings/undo', { revision: '1' }, operator.headers);
  expect(await publicPage('/sign-in')).not.toContain(href);
});

test('a file that is no logo is refused with its reason', async () => {
  const text = await upload(Buffer.from('hello'));
  expect(text.statusCode).toBe(400);
  expect(textOf(text.body)).toContain('The file is no SVG, PNG or WebP picture.');
  const unknown = { revision: '0', text: `${'a'.repeat(64)} 10 10` };
  const used = await sendForm(web, '/operator/settings/logo/use', unknown, operator.headers);
  expect(used.statusCode).toBe(404);
});
