import type { FastifyInstance } from 'fastify';
import { t } from '../../language/t.ts';
import { ANYONE } from '../route-options.ts';
import { sendPublicPage } from '../send-public-page.ts';
import { html } from '../shared/html.ts';

/**
 * The service worker stores it and shows it at the address of the page that could not be loaded, so “Try again” is a link
 * to the same address.
 */
export function offlinePage(app: FastifyInstance): void {
  app.get('/offline', ANYONE, (request, reply) =>
    sendPublicPage(request, reply, '/offline', async () => ({
      title: t('No connection'),
      width: 'narrow',
      hasNoSignIn: true,
      body: html`<h1>${t('No connection')}</h1>
        <p>${t('Your device is offline. A vote counts only after the site has answered.')}</p>
        <p><a class="button" href="">${t('Try again')}</a></p>`,
    })),
  );
}
