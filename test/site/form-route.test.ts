import Fastify, { type FastifyInstance } from 'fastify';
import { html } from 'hono/html';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { acceptForms } from '../../src/http/query-string.ts';
import { inLanguage, type Language } from '../../src/language/language.ts';
import { t } from '../../src/language/t.ts';
import { after, MINUTE } from '../../src/platform/clock.ts';
import { InvalidDocumentError } from '../../src/platform/document.ts';
import { loadAssets } from '../../src/site/assets.ts';
import { handleErrors, PageError } from '../../src/site/error-pages.ts';
import { addLocalLimits } from '../../src/site/limited-pages.ts';
import { addPageSlots } from '../../src/site/page-slots.ts';
import { ANYONE } from '../../src/site/route-options.ts';
import { decorateSite } from '../../src/site/shared/decorate-site.ts';
import { type Form, formRoute, type RefusedForm, refused } from '../../src/site/shared/form-route.ts';
import { textArea, textField } from '../../src/site/shared/parts.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { testDeps } from '../support/test-deps.ts';
import { textOf } from '../support/web-app.ts';

const schema = z.object({ name: z.string().min(1, 'must not be empty'), about: z.string(), key: z.string() });
type Fields = typeof schema;

class TakenError extends Error {}

/** The form's `run` function in the current test. */
let run: Form<Fields>['run'];
let language: Language;

let app: FastifyInstance;

beforeAll(async () => {
  const deps = await testDeps();
  app = Fastify();
  decorateSite(app, deps, await loadAssets(deps.config));
  handleErrors(app);
  addPageSlots(app);
  addLocalLimits(app, deps.clock);
  app.decorateRequest('language', 'en');
  app.addHook('preValidation', (request, _reply, done) => {
    request.language = language;
    return inLanguage(language, done);
  });
  acceptForms(app, 32 * 1_024);
  const form: Form<Fields> = {
    path: '/thing',
    access: ANYONE,
    schema,
    secrets: ['key'],
    fields: { title: 'name' },
    run: (sent) => run(sent),
    refusalOf: (error) => (error instanceof TakenError ? refused(409, 'It is taken.') : undefined),
  };
  const fields = ({
    values,
    errors,
  }: Parameters<NonNullable<Form<Fields>['show']>>[1]) => html`<h1>A thing</h1>
    <form method="post">
      ${textField({ name: 'name', id: 'other-name', label: 'Name', value: values.name ?? '' })}
      ${textField({ name: 'name', label: html`Name of the <bdi>thing</bdi>`, value: values.name ?? '', error: errors.name })}
      ${textArea({ name: 'about', id: 'thing-about', label: 'About', value: values.about ?? '', error: errors.about })}
      ${textField({ name: 'key', label: 'Key', value: values.key ?? '', error: errors.key })}
    </form>`;
  formRoute(app, { ...form, show: (_request, typed) => ({ title: 'Thing', body: fields(typed) }) });
  formRoute(app, { ...form, path: '/button' });
  formRoute(app, { ...form, path: '/moved', check: () => '/elsewhere#there' });
  formRoute(app, { path: '/without-fields', access: ANYONE, run: () => '/done' });
  atTheEnd(() => app.close());
});

const FIELDS = { name: 'Ada', about: 'First & second', key: 'a-secret' };

function send(path: string, fields: Record<string, string> = FIELDS, spoken: Language = 'en') {
  language = spoken;
  return app.inject({
    method: 'POST',
    url: path,
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' },
    payload: new URLSearchParams(fields).toString(),
  });
}

function refusing(why: RefusedForm) {
  run = () => why;
}

/** The summary at the top of a page; null if there is none. */
function summaryIn(body: string): string | null {
  return /<main[^>]*><div class="notice bad error-summary".*?<\/div>/s.exec(body)?.[0] ?? null;
}

describe('a form that is accepted', () => {
  test('redirects, and the anchor is kept', async () => {
    run = ({ data }) => `/things?done=${data.name}#${data.name}`;
    const { statusCode, headers } = await send('/thing');
    expect(statusCode).toBe(303);
    expect(headers.location).toBe('/things?done=Ada#Ada');
  });

  test('may answer with a page, without a summary of errors', async () => {
    run = () => ({ page: { title: 'Key', body: html`<p>shown once</p>` }, status: 200 });
    const { statusCode, body } = await send('/thing');
    expect(statusCode).toBe(200);
    expect(body).toContain('shown once');
    expect(summaryIn(body)).toBeNull();
  });

  test('may answer with a file', async () => {
    run = () => ({ send: (reply) => reply.type('text/csv').send('a;b') });
    const { headers, body } = await send('/thing');
    expect(headers['content-type']).toContain('text/csv');
    expect(body).toBe('a;b');
  });

  test('needs no fields', async () => {
    expect((await send('/without-fields', {})).headers.location).toBe('/done');
  });
});

describe('a form with an error', () => {
  test('is shown again with what was entered, and without its secrets', async () => {
    refusing({ errors: { about: 'Too short.' } });
    const { statusCode, body } = await send('/thing');
    expect(statusCode).toBe(400);
    expect(body).toContain('value="Ada"');
    expect(body).toContain('First &amp; second</textarea>');
    expect(body).not.toContain('a-secret');
  });

  test('begins with a summary that has the focus and links to each field by its label', async () => {
    refusing({ errors: { about: 'Too short.', name: 'Too long.', form: 'Nothing was saved.' } });
    const { body } = await send('/thing');
    const summary = summaryIn(body) ?? '';
    expect(summary).toMatch(/role="alert" tabindex="-1" autofocus/);
    expect(textOf(summary)).toContain('There is a problem');
    const entries = [...summary.matchAll(/<li>(.*?)<\/li>/g)].map(([, entry]) => entry);
    expect(entries).toEqual([
      'Nothing was saved.',
      '<a href="#thing-about">About: Too short.</a>',
      '<a href="#name">Name of the <bdi>thing</bdi>: Too long.</a>',
    ]);
  });

  test('shows the error beside its field too', async () => {
    refusing({ errors: { about: 'Too short.' } });
    const { body } = await send('/thing');
    expect(body).toMatch(/<p class="error" id="thing-about-error">Too short.<\/p>/);
    expect(body).toMatch(/id="thing-about"[^>]*aria-invalid="true" aria-describedby="thing-about-error"/);
  });

  test('names an error of a field that the page does not have, without a link', async () => {
    refusing({ errors: { id: 'Reload the page.' } });
    expect(summaryIn((await send('/thing')).body)).toContain('<li>Reload the page.</li>');
  });

  test('that breaks a rule of its schema does not reach the feature', async () => {
    run = () => expect.fail('ran');
    const { statusCode, body } = await send('/thing', { ...FIELDS, name: '' });
    expect(statusCode).toBe(400);
    expect(summaryIn(body)).toContain('Must not be empty.');
  });

  test('that a rule of the feature refuses names the form’s field', async () => {
    run = () => {
      throw new InvalidDocumentError({ title: 'must be a title' });
    };
    const { statusCode, body } = await send('/thing');
    expect(statusCode).toBe(400);
    expect(summaryIn(body)).toContain('<a href="#name">');
    expect(body).toContain('id="name-error">Must be a title.');
  });

  test('that the feature refuses otherwise has the status of that error', async () => {
    run = () => {
      throw new TakenError();
    };
    const { statusCode, body } = await send('/thing');
    expect(statusCode).toBe(409);
    expect(summaryIn(body)).toContain('It is taken.');
  });

  test('that is sent too often says when to send it again, with what was entered', async () => {
    refusing(refused(429, 'Too often.', after(new Date(), 3 * MINUTE)));
    const { statusCode, headers, body } = await send('/thing');
    expect(statusCode).toBe(429);
    expect(Number(headers['retry-after'])).toBeGreaterThan(170);
    expect(summaryIn(body)).toContain('You can try again <strong>in 3 minutes</strong>');
    expect(body).toContain('value="Ada"');
  });

  test('is shown in the language of the reader', async () => {
    run = () => ({ errors: { name: t('must not be empty') } });
    const { body } = await send('/thing', FIELDS, 'de');
    expect(summaryIn(body)).toContain('Es gibt ein Problem');
    expect(summaryIn(body)).toContain('Darf nicht leer sein.');
  });
});

describe('a form without some of its fields', () => {
  test('is answered as incomplete, with the fields that are missing', async () => {
    run = () => expect.fail('ran');
    const { statusCode, body } = await send('/thing', { name: 'Ada', key: 'a-secret' });
    expect(statusCode).toBe(400);
    expect(summaryIn(body)).toContain('The form was incomplete. Reload the page.');
    expect(summaryIn(body)).toContain('<a href="#thing-about">About: This field is missing.</a>');
  });

  test('is answered with an error page if it is a button', async () => {
    run = () => expect.fail('ran');
    const { statusCode, body } = await send('/button', {});
    expect(statusCode).toBe(400);
    expect(textOf(body)).toContain('Invalid request The form was incomplete. Reload the page.');
  });
});

test('a button that is refused is answered with an error page', async () => {
  refusing(refused(409, 'It is decided already.'));
  const { statusCode, body } = await send('/button');
  expect(statusCode).toBe(409);
  expect(textOf(body)).toContain('Conflict It is decided already.');
});

test('a page that has no form any more answers before the fields are checked', async () => {
  run = () => expect.fail('ran');
  expect((await send('/moved', {})).headers.location).toBe('/elsewhere#there');
});

test('any other error is not one of the form', async () => {
  run = () => {
    throw new PageError(404, 'There is no such thing.');
  };
  expect((await send('/thing')).statusCode).toBe(404);
  run = () => {
    throw new Error('a secret');
  };
  const { statusCode, body } = await send('/thing');
  expect(statusCode).toBe(500);
  expect(body).not.toContain('a secret');
});
