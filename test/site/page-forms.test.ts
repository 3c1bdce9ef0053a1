import { Parser } from 'htmlparser2';
import { beforeAll, expect, test, vi } from 'vitest';
import { fillListing, type SampleListing } from '../browser/sample-listing.ts';
import { PAGES, type Reader, type SamplePage, STATES } from '../browser/sample-pages.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { getPage, openWebApp, type WebApp } from '../support/web-app.ts';
import { startWorker } from '../support/workers.ts';
import { cookiesOf, sendSignIn } from './account-pages.ts';

/** The settings of the site that the browser tests visit. */
const ENV = {
  ALLOWED_PRIVATE_RANGES: '127.0.0.0/8',
  RELAY_INTERVAL_MS: '200',
  CONTACT: 'help@example.org',
  SITE_PAGES_DIR: new URL('../browser/site-pages', import.meta.url).pathname,
  OPERATOR_TWO_FACTOR: 'optional',
};

let web: WebApp;
let of: SampleListing;
let cookies: Record<Reader, { cookie?: string }>;

beforeAll(async () => {
  web = await openWebApp(ENV);
  const { listeners } = web.deps;
  const worker = await startWorker(web.deps.config);
  const filled = await fillListing(web.deps);
  atTheEnd(filled.close);
  of = filled.listing;
  // From then on nothing changes any more.
  await vi.waitFor(async () => {
    expect((await listeners.findOne({ serverId: of.long }))?.breaker.failures).toBeGreaterThan(0);
    expect((await listeners.findOne({ serverId: of.rightToLeft }))?.pause).not.toBeNull();
  }, EVENTUALLY);
  await worker.stop();
  const session = async ({ email, password }: { email: string; password: string }) =>
    cookiesOf(await sendSignIn(web, email, password));
  cookies = {
    stranger: {},
    owner: await session(of.users.owner),
    operator: await session(of.users.operator),
  };
});

type Form = { id: string | undefined; method: string; actions: Set<string>; fields: Set<string> };

/** The forms of a page, each as its method, its actions and the names of its fields. */
function formsOf(page: string): string[] {
  const forms: Form[] = [];
  const controls: {
    form: Form | string | undefined;
    name: string | undefined;
    formaction: string | undefined;
  }[] = [];
  let current: Form | undefined;
  const parser = new Parser({
    onopentag(tag, { method = 'get', action, id, name, form, formaction }) {
      if (tag === 'form') {
        current = {
          id,
          method: method.toUpperCase(),
          actions: new Set(action ? [action] : []),
          fields: new Set(),
        };
        forms.push(current);
      } else if (['input', 'select', 'textarea', 'button'].includes(tag)) {
        controls.push({ form: form ?? current, name, formaction });
      }
    },
    onclosetag(tag) {
      if (tag === 'form') current = undefined;
    },
  });
  parser.end(page);
  for (const { form, name, formaction } of controls) {
    const owner = typeof form === 'string' ? forms.find(({ id }) => id === form) : form;
    if (name) owner?.fields.add(name);
    if (formaction) owner?.actions.add(formaction);
  }
  const lines = forms.map(({ method, actions, fields }) => {
    const to = new Set([...actions].map(withoutIds));
    return `${method} ${[...to].join(' or ')}${fields.size > 0 ? `: ${[...fields].join(', ')}` : ''}`;
  });
  return [...new Set(lines)];
}

/** An address with names instead of ids and the slugs of servers and tags. */
function withoutIds(address: string): string {
  const slugs = Object.entries(of.slugs).toSorted(([, one], [, other]) => other.length - one.length);
  return slugs
    .reduce((text, [name, slug]) => text.replaceAll(`/${slug}`, `/:${name}`), address)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{24}/g, ':id')
    .replaceAll(/(?<=\/tags\/)[\w-]+/g, ':tag');
}

/** The fields of a page in which somebody types, each as its type, its name and its `autocomplete`. */
function typedFieldsOf(page: string): string[] {
  const fields: string[] = [];
  const parser = new Parser({
    onopentag(tag, { type = 'text', name, autocomplete }) {
      if (tag === 'input' && ['text', 'email', 'password', 'search', 'url', 'tel'].includes(type))
        fields.push(`${type} ${name}: ${autocomplete}`);
    },
  });
  parser.end(page);
  return fields;
}

type Seen = { page: SamplePage; status: number; forms: string[]; fields: string[] };

async function open(page: SamplePage): Promise<Seen> {
  const { statusCode, body } = await getPage(web, page.path(of), cookies[page.reader] as { cookie: string });
  return { page, status: statusCode, forms: formsOf(body), fields: typedFieldsOf(body) };
}

const seen: Seen[] = [];

beforeAll(async () => {
  for (const page of [...PAGES, ...STATES]) seen.push(await open(page));
});

test('every page has its status and its forms with their fields', async () => {
  const lines: string[] = [];
  for (const reader of ['stranger', 'owner', 'operator'] as const) {
    const pages = seen.filter(({ page }) => page.reader === reader);
    const [first, ...others] = pages.map(({ forms }) => forms);
    const everywhere = first?.filter((form) => others.every((forms) => forms.includes(form))) ?? [];
    lines.push(`# ${reader}`, `every page: ${everywhere.join(' | ')}`);
    for (const { page, status, forms } of pages) {
      lines.push(`${page.name ?? page.route}: ${status}`);
      for (const form of forms) if (!everywhere.includes(form)) lines.push(`  ${form}`);
    }
    lines.push('');
  }
  const renew = 'If the forms of pages were meant to change: npx vitest run test/site/page-forms.test.ts -u';
  await expect(lines.join('\n'), renew).toMatchFileSnapshot('page-forms.txt');
});

test('browsers fill in only fields about the user, each with what it is for, and no mail address as a public name', () => {
  const fields = [...new Set(seen.flatMap(({ fields }) => fields))].toSorted();
  expect(fields.length).toBeGreaterThan(30);
  expect(fields.filter((field) => !field.endsWith(': off'))).toEqual([
    'email email: email',
    'email email: username',
    'password DISCORD_CLIENT_SECRET: new-password',
    'password OIDC_CLIENT_SECRET: new-password',
    'password SMTP_URL: new-password',
    'password current: current-password',
    'password password: current-password',
    'password password: new-password',
    'text code: one-time-code',
    'text name: nickname',
    'text username: nickname',
  ]);
});
