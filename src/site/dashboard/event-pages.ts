import type { FastifyInstance, FastifyRequest } from 'fastify';
import { attemptsOf } from '../../events/attempt-log.ts';
import { readLiveMessage } from '../../events/live-status/live-messages.ts';
import { MOST_SUBSCRIPTIONS } from '../../events/subscription.ts';
import { subscriptionsOf } from '../../events/subscriptions.ts';
import { t } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { PageError } from '../error-pages.ts';
import { serverOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import type { Site } from '../shared/decorate-site.ts';
import { UNTOUCHED } from '../shared/form.ts';
import { type Content, html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { attemptsCard } from './event-attempts.ts';
import { subscriptionCards } from './event-cards.ts';
import { addDestinationCard, subscriptionForm } from './event-forms.ts';
import { eventListCard } from './event-list-card.ts';
import { subscriptionRoutes } from './event-routes.ts';
import { EVENT_MESSAGES, type EventPages, noDestination } from './event-showing.ts';
import { liveStatusCard, liveStatusRoutes } from './live-status-card.ts';
import { serverFrame } from './server-frame.ts';

/** `/dashboard/servers/<id>/events`: where a server's events are sent, each destination's log, and the live status. */
export function eventPages(app: FastifyInstance, { deps }: DashboardParts): void {
  const pages = pagesWith(app.site, deps);
  app.get('/servers/:serverId/events', OWNER, async (request, reply) =>
    sendPage(request, reply, await pages.list(request)),
  );
  app.get('/servers/:serverId/events/:subscriptionId', OWNER, async (request, reply) =>
    sendPage(request, reply, await pages.one(request)),
  );
  subscriptionRoutes(app, deps, pages);
  liveStatusRoutes(app, deps, pages);
}

function pagesWith(site: Site, deps: AppDeps): EventPages {
  const pathOf = (request: FastifyRequest) => serverPath(site.base, serverOf(request), '/events');
  const framed = (request: FastifyRequest, title: string, body: Content): Page => {
    const server = serverOf(request);
    const frame = serverFrame({ site, deps, server, now: deps.clock.now(), part: '/events', body });
    return { title: `${title} · ${server.name}`, messages: EVENT_MESSAGES, ...frame };
  };
  return {
    async list(request, showing = {}) {
      const { _id: serverId } = serverOf(request);
      const path = pathOf(request);
      const [subscriptions, live] = await Promise.all([
        subscriptionsOf(deps, serverId),
        readLiveMessage(deps, serverId),
      ]);
      const now = deps.clock.now();
      const body = html`${showing.message ?? ''}${eventListCard(site.base, path, subscriptions, now)}
        ${addDestinationCard(path, subscriptions.length < MOST_SUBSCRIPTIONS, showing)}
        ${liveStatusCard(`${path}/live`, live, showing, now)}`;
      return framed(request, t('Events'), body);
    },
    async one(request, showing = {}, _id = idParam(request, 'subscriptionId')) {
      const { _id: serverId } = serverOf(request);
      const [subscriptions, attempts] = await Promise.all([
        subscriptionsOf(deps, serverId),
        attemptsOf(deps, serverId, _id),
      ]);
      const subscription = subscriptions.find((one) => one._id.equals(_id));
      if (!subscription) throw new PageError(404, noDestination());
      const list = pathOf(request);
      const path = `${list}/${_id.toHexString()}`;
      const now = deps.clock.now();
      const body = html`<p><a href="${list}">${t('All destinations')}</a></p>
        ${subscriptionCards({ base: site.base, path, subscription, showing, now })}
        ${attemptsCard(path, attempts)}
        ${subscriptionForm(path, subscription, showing.typed ?? UNTOUCHED)}`;
      return framed(request, subscription.name, body);
    },
  };
}
