import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import { createAuth } from '../accounts/auth.ts';
import { createKnownDevices } from '../accounts/known-devices.ts';
import { sendLink } from '../accounts/send-link.ts';
import { acceptForms } from '../http/query-string.ts';
import { defineMessage } from '../language/t.ts';
import type { AppDeps } from '../process/app-deps.ts';
import type { Metrics } from '../process/metrics.ts';
import { accountPages } from './accounts/account-pages.ts';
import { adminArea } from './admin/admin-area.ts';
import { ADMIN_AREA } from './admin/admin-pages.ts';
import type { Assets } from './assets.ts';
import { dashboard } from './dashboard/dashboard.ts';
import { PageError } from './error-pages.ts';
import { guardRoutes } from './guard-routes.ts';
import { homeScreen } from './home-screen.ts';
import { limitOwnPages, limitRefusedForms } from './limited-pages.ts';
import { languageLinks } from './page-language.ts';
import { takePageSlots } from './page-slots.ts';
import { publicPages } from './public/public-pages.ts';
import { serveRelayJar } from './relay-jar.ts';
import { isSameOrigin } from './same-origin.ts';
import { serverTime } from './server-time.ts';
import { refreshAnnouncement } from './shared/announcement-cache.ts';
import { DASHBOARD_AREA, SERVER_AREA } from './shared/dashboard-pages.ts';
import { serveFlags } from './shared/flags.ts';
import { styleguide } from './styleguide/styleguide-page.ts';

/** The server's is below the dashboard's, so it comes first. */
export const AREAS = [SERVER_AREA, DASHBOARD_AREA, ADMIN_AREA] as const;

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // For the web worker that solves the challenge of the vote form, and the service worker.
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** In bytes. Forms with texts of more than 8 KiB set a limit of their own. */
const FORM_LIMIT = 32 * 1_024;

type SiteParts = {
  deps: AppDeps;
  metrics: Metrics;
  assets: Assets;
  restoreGate: onRequestHookHandler;
};

/** A form of another site is refused before its body is read. */
export async function site(
  app: FastifyInstance,
  { deps, metrics, assets, restoreGate }: SiteParts,
): Promise<void> {
  const { config } = deps;
  const auth = createAuth(deps, (link) => sendLink(deps, link));
  const devices = createKnownDevices(config, deps.clock);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('content-security-policy', CONTENT_SECURITY_POLICY);
    // With `no-referrer`, browsers would also send `Origin: null` with the forms of this site, and `isSameOrigin` would
    // refuse those of browsers without `Sec-Fetch-Site`.
    reply.header('referrer-policy', 'same-origin');
    const { method, routeOptions } = request;
    if (method === 'GET' || method === 'HEAD' || routeOptions.config.isOneClick) return;
    if (isSameOrigin(request, config.PUBLIC_URL)) return;
    request.log.warn({ event: 'site.foreign_origin', origin: request.headers.origin });
    throw new PageError(403, defineMessage('This form was not sent from this site.'));
  });
  refreshAnnouncement(app);
  guardRoutes(app, deps, auth, AREAS);
  app.addHook('onRoute', (route) => {
    route.bodyLimit ??= FORM_LIMIT;
  });
  acceptForms(app, FORM_LIMIT);
  assets.serve(app);
  serveRelayJar(app);
  serveFlags(app);
  serverTime(app, deps);
  homeScreen(app, deps, assets);
  languageLinks(app, deps);

  await app.register(async (pages) => {
    // Not the files above: the error page needs its styles and pictures.
    pages.addHook('onRequest', restoreGate);
    await pages.register(async (limited) => {
      // A JSON body could nest lists so deeply that reading it as text is slow.
      limited.removeContentTypeParser(['application/json', 'text/plain']);
      limitOwnPages(limited);
      limitRefusedForms(limited);
      takePageSlots(limited);
      await limited.register(publicPages, { deps, metrics });
      await limited.register(accountPages, { deps, auth, devices });
      styleguide(limited, deps.config);
      await limited.register(dashboard, { deps, prefix: DASHBOARD_AREA.path });
    });
    // Without limits and slots for pages, because operators need it most when the site is overloaded.
    await pages.register(adminArea, { deps, auth, prefix: ADMIN_AREA.path });
  });
}
