import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ObjectId } from 'mongodb';
import { z } from 'zod';
import { attemptsOf } from '../../events/event-log.ts';
import { countWaitingEvents } from '../../events/event-sends.ts';
import { EVENT_KIND_NAMES } from '../../events/kinds.ts';
import { readLiveMessage } from '../../events/live-status/live-messages.ts';
import { replayEvent } from '../../events/replay-event.ts';
import { MOST_SUBSCRIPTIONS, type Subscription } from '../../events/subscription.ts';
import {
  addSubscription,
  changeSubscription,
  pauseSubscription,
  removeSubscription,
  resumeSubscription,
  rotateSubscriptionSecret,
  subscriptionsOf,
  TooManySubscriptionsError,
} from '../../events/subscriptions.ts';
import { defineMessage, t } from '../../language/t.ts';
import type { Server } from '../../servers/server.ts';
import { answerNow } from '../../workflows/answer-now.ts';
import { PageError } from '../error-pages.ts';
import { serverOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { fieldText, type Typed, UNTOUCHED } from '../shared/form.ts';
import { type FormAnswer, formRoute, refused } from '../shared/form-route.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { notAnsweredStatus, notAnsweredText } from '../shared/not-answered.ts';
import { notice } from '../shared/parts.ts';
import { checkTaker } from '../shared/used-up.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { attemptsCard, subscriptionCards, testText } from './event-cards.ts';
import { addCards, subscriptionForm } from './event-forms.ts';
import { eventListCard } from './event-list-card.ts';
import { hiddenId } from './hidden-ids.ts';
import { liveStatusCard, liveStatusRoutes } from './live-status-card.ts';
import { serverFrame } from './server-frame.ts';

const MESSAGES = {
  added: defineMessage('Subscription added. Send a test event to see that it arrives.'),
  saved: defineMessage('Subscription saved.'),
  paused: defineMessage('Paused. Events are kept and sent when you resume.'),
  resumed: defineMessage('Resumed. What waits is sent now.'),
  removed: defineMessage('Subscription removed.'),
  replayed: defineMessage('The event is sent again now.'),
  'live-set': defineMessage('A worker posts the message within a minute.'),
  'live-restarted': defineMessage('The live status starts again within a minute.'),
  'live-removed': defineMessage('Live status removed. Its message in Discord is deleted.'),
};

/** What a page shows after one of its forms: the values with errors, a secret that is shown once, or a result. */
export type EventsShowing = { form?: 'http' | 'discord' | 'live'; typed?: Typed; secret?: string | null; message?: Html };

/** `/dashboard/servers/<id>/events`: where a server's events are sent, each destination's log, and the live status. */
export function eventPages(app: FastifyInstance, { deps }: DashboardParts): void {
  const { site } = app;
  const framed = (server: Server & { _id: ObjectId }, title: string, body: Content): Page => ({
    title: `${title} · ${server.name}`,
    messages: MESSAGES,
    ...serverFrame({ site, server, now: deps.clock.now(), part: '/events', body }),
  });

  const listPage = async (request: FastifyRequest, showing: EventsShowing = {}): Promise<Page> => {
    const server = serverOf(request);
    const now = deps.clock.now();
    const path = serverPath(site.base, server, '/events');
    const [subscriptions, live] = await Promise.all([
      subscriptionsOf(deps, server._id),
      readLiveMessage(deps, server._id),
    ]);
    const body = html`${showing.message ?? ''}${eventListCard(site.base, path, subscriptions, now)}
      ${addCards(path, subscriptions.length < MOST_SUBSCRIPTIONS, showing)}
      ${liveStatusCard(`${path}/live`, live, showing, now)}`;
    return framed(server, t('Events'), body);
  };

  const onePage = async (request: FastifyRequest, showing: EventsShowing = {}): Promise<Page> => {
    const server = serverOf(request);
    const subscription = await find(request);
    const now = deps.clock.now();
    const list = serverPath(site.base, server, '/events');
    const path = `${list}/${subscription._id.toHexString()}`;
    const [attempts, waiting] = await Promise.all([
      attemptsOf(deps, subscription._id),
      countWaitingEvents(deps, subscription._id),
    ]);
    const body = html`${subscriptionCards({ path, list, subscription, waiting, showing, now })}
      ${subscriptionForm(path, subscription, showing.typed ?? UNTOUCHED)}
      ${attemptsCard(path, attempts)}`;
    return framed(server, subscription.name, body);
  };

  async function find(request: FastifyRequest): Promise<Subscription> {
    const { _id: serverId } = serverOf(request);
    const found = await deps.subscriptions.findOne({ _id: idParam(request, 'subscriptionId'), serverId });
    if (!found) throw new PageError(404, t('This server has no subscription with this id.'));
    return found;
  }

  app.get('/servers/:serverId/events', OWNER, async (request, reply) =>
    sendPage(request, reply, await listPage(request)),
  );
  app.get('/servers/:serverId/events/:subscriptionId', OWNER, async (request, reply) =>
    sendPage(request, reply, await onePage(request)),
  );

  for (const type of ['http', 'discord'] as const) {
    formRoute(app, {
      path: `/servers/:serverId/events/add-${type}`,
      access: OWNER,
      schema: z.looseObject({
        name: fieldText,
        address: fieldText,
        template: fieldText.optional(),
        newId: hiddenId,
      }),
      secrets: ['address'],
      fields: { url: 'address', webhook: 'address' },
      show: (request, typed) => listPage(request, { form: type, typed }),
      refusalOf: tooMany,
      run: async ({ request, server, by, path, data, values }) => {
        const { name, address, template, newId } = data;
        const common = { name, kinds: chosen(values) };
        const settings =
          type === 'http'
            ? { ...common, type, url: address }
            : { ...common, type, webhook: address, ...(template ? { template } : {}) };
        const { subscription, secret } = await addSubscription(deps, server._id, settings, by, newId);
        const to = path(`/events/${subscription._id.toHexString()}`);
        if (secret === null) return `${to}?done=added`;
        return shownOnce(request, subscription, secret);
      },
    });
  }

  /** The page of the new subscription: its address would show no secret. */
  function shownOnce(request: FastifyRequest, { _id }: Subscription, secret: string): FormAnswer {
    Object.assign(request.params as object, { subscriptionId: _id.toHexString() });
    return { page: onePage(request, { secret }) };
  }

  formRoute(app, {
    path: '/servers/:serverId/events/:subscriptionId',
    access: OWNER,
    schema: z.looseObject({ name: fieldText, address: fieldText.optional(), template: fieldText.optional() }),
    secrets: ['address'],
    fields: { url: 'address', webhook: 'address' },
    show: (request, typed) => onePage(request, { typed }),
    run: async ({ request, server, by, data, values, path }) => {
      const { _id: subscriptionId, type } = await find(request);
      const { name, address, template } = data;
      const to = address ? (type === 'http' ? { url: address } : { webhook: address }) : {};
      const change = { name, kinds: chosen(values), ...to, ...(template === undefined ? {} : { template }) };
      const which = { serverId: server._id, subscriptionId };
      return done(await changeSubscription(deps, which, change, by), path, 'saved');
    },
  });

  const buttons = {
    pause: { change: pauseSubscription, message: 'paused' },
    resume: { change: resumeSubscription, message: 'resumed' },
  } as const;
  for (const [name, { change, message }] of Object.entries(buttons)) {
    formRoute(app, {
      path: `/servers/:serverId/events/:subscriptionId/${name}`,
      access: OWNER,
      run: async ({ request, server, by, path }) =>
        done(await change(deps, idsOf(request, server), by), path, message),
    });
  }

  formRoute(app, {
    path: '/servers/:serverId/events/:subscriptionId/remove',
    access: OWNER,
    run: async ({ request, server, by, path }) =>
      (await removeSubscription(deps, idsOf(request, server), by)) ? `${path('/events')}?done=removed` : gone(),
  });

  formRoute(app, {
    path: '/servers/:serverId/events/:subscriptionId/rotate',
    access: OWNER,
    schema: z.object({ revision: z.coerce.number() }),
    run: async ({ request, server, by, data }) => {
      const rotated = await rotateSubscriptionSecret(deps, idsOf(request, server), by, data.revision);
      if (rotated) return { page: onePage(request, { secret: rotated.secret }) };
      const message = notice('attention', t('The secret was already replaced, or the settings changed. Nothing was done.'));
      return { page: onePage(request, { message }), status: 409 };
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/events/:subscriptionId/test',
    access: OWNER,
    check: checkTaker(deps),
    show: (request) => onePage(request),
    run: async ({ request, server }) => {
      const { subscriptionId } = idsOf(request, server);
      const ids = { serverId: server._id.toHexString(), subscriptionId: subscriptionId.toHexString() };
      const ended = await answerNow(deps, 'test-subscription', ids);
      if (ended.kind !== 'answered') return refused(notAnsweredStatus(ended), notAnsweredText(ended));
      return { page: onePage(request, { message: notice(...testText(ended.result)) }) };
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/events/:subscriptionId/replay',
    access: OWNER,
    schema: z.object({ event: z.string().max(60) }),
    run: async ({ request, server, path, data }) => {
      const which = idsOf(request, server);
      if (await replayEvent(deps, which, data.event)) return `${path(`/events/${which.subscriptionId}`)}?done=replayed`;
      return refused(404, t('This event is no longer stored: events are kept for 30 days.'));
    },
  });

  liveStatusRoutes(app, deps, listPage);
}

function idsOf(request: FastifyRequest, { _id: serverId }: { _id: ObjectId }) {
  return { serverId, subscriptionId: idParam(request, 'subscriptionId') };
}

function gone() {
  return refused(404, t('This server has no subscription with this id.'));
}

function done(changed: Subscription | null, path: (part: string) => string, message: keyof typeof MESSAGES) {
  return changed ? `${path(`/events/${changed._id.toHexString()}`)}?done=${message}` : gone();
}

function chosen(values: Record<string, string>) {
  return EVENT_KIND_NAMES.filter((kind) => values[`kind-${kind}`] === 'yes');
}

function tooMany(error: unknown) {
  if (!(error instanceof TooManySubscriptionsError)) return undefined;
  return refused(409, t('A server has at most {most} subscriptions.', { most: MOST_SUBSCRIPTIONS }));
}
