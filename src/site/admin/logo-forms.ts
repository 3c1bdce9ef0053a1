import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Config } from '../../platform/config.ts';
import { failureSentence, PictureError } from '../../platform/pictures/picture-error.ts';
import { LARGEST_UPLOAD_MB } from '../../platform/pictures/picture-limits.ts';
import { settingValue } from '../../platform/settings/definitions.ts';
import type { StoredLogo } from '../../platform/stored-values.ts';
import { readPicture } from '../../servers/pictures.ts';
import { changeSettings, readStoredSettings } from '../../settings/change-settings.ts';
import { GROUPS } from '../../settings/changeable.ts';
import { storeLogoUpload } from '../../settings/logo-upload.ts';
import { answerNow } from '../../workflows/answer-now.ts';
import { LOGO_HEIGHT, logoSize, MOST_LOGO_PIXELS } from '../look/logo.ts';
import { OPERATOR } from '../route-options.ts';
import type { Site } from '../shared/decorate-site.ts';
import { withErrorSummary } from '../shared/error-summary.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { notAnsweredStatus, notAnsweredText } from '../shared/not-answered.ts';
import { button, card } from '../shared/parts.ts';
import { pictureAddress } from '../shared/server-pictures.ts';
import { acceptUploads } from '../shared/uploaded-file.ts';
import { adminFrame } from './admin-frame.ts';
import type { AdminParts } from './admin-parts.ts';
import { fixedValue } from './setting-fields.ts';
import { conflict, settingsPath } from './settings-frame.ts';

/** The card with the logo and a link to its form. */
export function logoCard({ base, logo }: Site, config: Config): Html {
  const picture = html`<p><img src="${logo.href}" alt="The present logo"
    width="${String(logo.width)}" height="${String(logo.height)}" /></p>`;
  const body = config.given.has('LOGO_PICTURE')
    ? fixedValue(config, 'LOGO_PICTURE')
    : html`<div class="actions"><a class="button"
        href="${settingsPath(base, '/logo')}">${config.LOGO_PICTURE ? 'Another logo' : 'Upload a logo'}</a></div>`;
  return card({ id: 'logo', title: GROUPS.logo.title, body: html`${picture}${body}` });
}

/** `/operator/settings/logo`: the forms to upload a logo, to see its preview, and to use it. */
export async function logoForms(
  app: FastifyInstance,
  { parts: { deps } }: { parts: AdminParts },
): Promise<void> {
  const { base } = app.site;
  const path = settingsPath(base, '/logo');
  const readFile = await acceptUploads(app);

  const page = async (typed: Typed = UNTOUCHED, preview: Content = ''): Promise<Page> => {
    const body = html`${preview}${card({ title: 'Logo', body: await bodyOf(typed) })}`;
    return { title: 'Logo', ...adminFrame({ base, part: '/settings', body }) };
  };

  async function bodyOf({ errors: { logo: error } }: Typed): Promise<Content> {
    if (deps.config.given.has('LOGO_PICTURE')) return fixedValue(deps.config, 'LOGO_PICTURE');
    const revision = String((await readStoredSettings(deps))?.revision ?? 0);
    const removal = deps.config.LOGO_PICTURE
      ? button({ to: `${path}/use`, text: 'Use the logo of Tallyport again', hidden: { revision, text: '' } })
      : '';
    return html`<form method="post" action="${path}" enctype="multipart/form-data" class="stack">
        <div class="field"><label for="logo">Picture</label>
          <p class="hint" id="logo-hint">SVG, PNG or WebP, at most ${LARGEST_UPLOAD_MB} MB
            and ${MOST_LOGO_PIXELS.toLocaleString('en')} pixels on a side. The head of a page shows
            it ${LOGO_HEIGHT} pixels high, on a dark ground. You see it before it is used.</p>
          ${error ? html`<p class="error" id="logo-error">${error}</p>` : ''}
          <input id="logo" name="logo" type="file" accept="image/svg+xml,image/png,image/webp" required
            aria-describedby="logo-hint${error ? ' logo-error' : ''}" ${error ? html`aria-invalid="true"` : ''} /></div>
        <div class="actions"><button type="submit">Upload and preview</button>
          <a class="button quiet" href="${settingsPath(base)}">Back to the settings</a></div>
      </form>${removal}`;
  }

  app.get('/settings/logo', OPERATOR, async (request, reply) => sendPage(request, reply, await page()));

  app.post('/settings/logo', OPERATOR, async (request, reply) => {
    const sendError = async (sentence: string, status = 400) => {
      const again = await withErrorSummary(await page({ values: {}, errors: { logo: sentence } }), {
        logo: sentence,
      });
      return sendPage(request, reply, again, status);
    };
    if (deps.config.given.has('LOGO_PICTURE')) return sendPage(request, reply, await page(), 409);
    try {
      const bytes = await readFile(request, reply);
      const ended = await answerNow(deps, 'encode-logo', { uploadId: await storeLogoUpload(deps, bytes) });
      if (ended.kind !== 'answered') return sendError(notAnsweredText(ended), notAnsweredStatus(ended));
      if (ended.result.kind === 'refused') return sendError(ended.result.reason ?? failureSentence('broken'));
      if (ended.result.kind !== 'encoded') return sendError(failureSentence('broken'));
      return sendPage(request, reply, await page(UNTOUCHED, await previewOf(ended.result.text)));
    } catch (error) {
      if (!(error instanceof PictureError)) throw error;
      return sendError(error.message);
    }
  });

  async function previewOf(text: string): Promise<Html> {
    const revision = String((await readStoredSettings(deps))?.revision ?? 0);
    const [id = '', width, height] = text.split(' ');
    const { width: shown, height: high } = logoSize({ width: Number(width), height: Number(height) });
    const size = html`width="${String(shown)}" height="${String(high)}"`;
    return card({
      title: 'Preview, not saved',
      isResult: true,
      body: html`<p class="logo-preview"><img src="${pictureAddress(base, id)}" alt="The new logo in the head of a page"
        ${size} /></p>
        ${button({ to: `${path}/use`, text: 'Use this logo', kind: 'primary', hidden: { revision, text } })}`,
    });
  }

  formRoute(app, {
    path: '/settings/logo/use',
    access: OPERATOR,
    schema: z.object({ revision: z.string().regex(/^\d{1,9}$/), text: z.string() }),
    show: (_request: FastifyRequest, typed) => page(typed),
    refusalOf: conflict,
    run: async ({ by, data: { revision, text } }) => {
      if (text !== '' && !(await isStored(text)))
        return refused(404, 'This picture is no longer stored. Upload it again.');
      const changes = { LOGO_PICTURE: text === '' ? null : text };
      await changeSettings(deps, changes, by, Number(revision));
      return `${settingsPath(base)}?done=saved#logo`;
    },
  });

  async function isStored(text: string): Promise<boolean> {
    const read = settingValue('LOGO_PICTURE', text);
    return 'value' in read && (await readPicture(deps, (read.value as StoredLogo).id)) !== null;
  }
}
