import type { FastifyInstance, FastifyRequest } from 'fastify';
import { t, translated } from '../../language/t.ts';
import { HOUR } from '../../platform/clock.ts';
import { countUse } from '../../platform/limits/by-network.ts';
import { defineLimit } from '../../platform/limits/define-limit.ts';
import { failureSentence, PictureError, type PictureFailure } from '../../platform/pictures/picture-error.ts';
import { LARGEST_UPLOAD_MB } from '../../platform/pictures/picture-limits.ts';
import { UPLOAD_TTL_MS } from '../../servers/picture-uploads.ts';
import { removeBanner, uploadBanner } from '../../servers/pictures.ts';
import type { BannerUpload } from '../../servers/profile.ts';
import type { Server } from '../../servers/server.ts';
import { PageError } from '../error-pages.ts';
import { serverOf, userOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { withErrorSummary } from '../shared/error-summary.ts';
import { formRoute } from '../shared/form-route.ts';
import { type Html, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { livePart } from '../shared/live.ts';
import { button, card, notice } from '../shared/parts.ts';
import { bannerImage, iconImage } from '../shared/profile-parts.ts';
import { acceptUploads } from '../shared/uploaded-file.ts';
import type { DashboardParts } from './dashboard-parts.ts';

/** Encoding one banner can take a worker several seconds of CPU time. */
const UPLOADS = defineLimit({
  key: 'banner',
  what: 'Uploads of banners',
  of: 'user',
  times: 20,
  windowMs: HOUR,
  beyond: '429',
});

const STATUS: Partial<Record<PictureFailure, number>> = { 'too-large': 413, busy: 503, slow: 503 };

export async function bannerForms(
  app: FastifyInstance,
  { deps, show }: DashboardParts & { show: (request: FastifyRequest, error: string) => Promise<Page> },
): Promise<void> {
  const { base } = app.site;
  const uploadedFile = await acceptUploads(app);

  app.post('/servers/:serverId/profile/banner', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const user = userOf(request);
    const until = await countUse(deps, UPLOADS, user._id);
    const tooMany = t('You can upload {times} pictures an hour.', { times: UPLOADS.times });
    if (until) throw new PageError(429, tooMany, until);
    try {
      const bytes = await uploadedFile(request, reply);
      await uploadBanner(deps, server, bytes, user.email);
    } catch (error) {
      if (!(error instanceof PictureError)) throw error;
      const sentence = translated(error.message);
      const page = await withErrorSummary(await show(request, sentence), { banner: sentence });
      return sendPage(request, reply, page, STATUS[error.code] ?? 400);
    }
    return reply.redirect(`${serverPath(base, server, '/profile')}?done=banner#banner`, 303);
  });

  formRoute(app, {
    path: '/servers/:serverId/profile/banner/remove',
    access: OWNER,
    run: async ({ server, by, path }) => {
      await removeBanner(deps, server, by);
      return `${path('/profile')}?done=banner-removed#banner`;
    },
  });
}

/** Whether an uploaded banner waits for a worker. */
export function isPreparing({ profile }: Server, now: Date): boolean {
  const { bannerUpload } = profile ?? {};
  return bannerUpload !== undefined && failureOf(bannerUpload, now) === undefined;
}

/** Why an uploaded banner was refused; undefined while it waits. `late`: no worker encoded it within a day. */
function failureOf({ at, failure }: BannerUpload, now: Date): PictureFailure | undefined {
  return failure ?? (now.getTime() - at.getTime() > UPLOAD_TTL_MS ? 'late' : undefined);
}

/** `error`: why the upload of this request was refused. */
export function picturesCard(
  base: string,
  path: string,
  server: Server,
  error: string | undefined,
  now: Date,
): Html {
  const { banner, icon } = server.profile ?? {};
  const describedBy = error ? 'banner-hint banner-error' : 'banner-hint';
  const hint = t(
    'PNG, JPEG or WebP, at most {megabytes} MB, best 1,200 × 300 pixels. It is stored without its metadata.',
    { megabytes: LARGEST_UPLOAD_MB },
  );
  const aboutIcon = icon?.picture
    ? t('The icon comes from your server (server-icon.png) and follows it by itself.')
    : t(
        'A Minecraft Java server’s icon (server-icon.png, 64 × 64 pixels) appears by itself after the next check.',
      );
  return card({
    id: 'banner',
    title: t('Banner and icon'),
    body: html`${bannerPart(base, path, server, now)}
      <form method="post" action="${path}/banner" enctype="multipart/form-data" class="stack">
        <div class="field">
          <label for="banner-file">${banner ? t('Another banner') : t('Banner')}</label>
          <p class="hint" id="banner-hint">${hint}</p>
          ${error ? html`<p class="error" id="banner-error">${error}</p>` : ''}
          <input id="banner-file" name="banner" type="file" accept="image/png,image/jpeg,image/webp" required
            aria-describedby="${describedBy}" ${error ? html`aria-invalid="true"` : ''} />
        </div>
        <button type="submit">${t('Upload')}</button>
      </form>
      <div class="with-icon">${iconImage(base, icon)}<p class="small soft">${aboutIcon}</p></div>`,
  });
}

/** Until the newest upload is encoded, this part refreshes itself. */
function bannerPart(base: string, path: string, { name, profile }: Server, now: Date): Html {
  const { banner, bannerUpload } = profile ?? {};
  const failure = bannerUpload && failureOf(bannerUpload, now);
  const isOpen = bannerUpload !== undefined && failure === undefined;
  const state = isOpen
    ? notice(
        'quiet',
        t(
          'The new banner is being prepared. It appears here within seconds; without JavaScript, reload the page.',
        ),
      )
    : failure
      ? notice('bad', t('The new banner was refused: {reason}', { reason: failureSentence(failure) }))
      : '';
  const isAny = banner !== undefined || bannerUpload !== undefined;
  const body = html`${banner ? bannerImage(base, banner, name) : ''}${state}
    ${isAny ? button({ to: `${path}/banner/remove`, text: t('Remove banner') }) : ''}`;
  const announcement = t('The new banner is being prepared.');
  return isOpen
    ? livePart({ id: 'banner-picture', href: path, announcement, open: true, body })
    : html`<div id="banner-picture">${body}</div>`;
}
