import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { EVENT_KIND_NAMES } from '../../events/kinds.ts';
import { replayEvent } from '../../events/replay-event.ts';
import {
  requestSubscriptionTest,
  type SubscriptionTestRefusal,
} from '../../events/request-subscription-test.ts';
import { MOST_SUBSCRIPTIONS, SUBSCRIPTION_TYPES, type Subscription } from '../../events/subscription.ts';
import {
  addSubscription,
  changeSubscription,
  isOtherAddress,
  pauseSubscription,
  removeSubscription,
  resumeSubscription,
  rotateSubscriptionSecret,
  type SubscriptionOf,
  TooManySubscriptionsError,
} from '../../events/subscriptions.ts';
import { t } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { roleOf } from '../../servers/ownership.ts';
import { answerNow } from '../../workflows/answer-now.ts';
import { isByOperator, serverOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { fieldText, INCOMPLETE } from '../shared/form.ts';
import { formRoute, type PathOfServer, refused } from '../shared/form-route.ts';
import { idParam } from '../shared/id-param.ts';
import { notAnsweredStatus, notAnsweredText } from '../shared/not-answered.ts';
import { notice } from '../shared/parts.ts';
import { checkTaker, tooManyChecks } from '../shared/used-up.ts';
import { testText } from './event-cards.ts';
import { type EventMessage, type EventPages, noDestination } from './event-showing.ts';
import { hiddenId } from './hidden-ids.ts';

const LIST = '/servers/:serverId/events';
const ONE = `${LIST}/:subscriptionId`;

/** The forms of the pages of events. */
export function subscriptionRoutes(app: FastifyInstance, deps: AppDeps, pages: EventPages): void {
  addRoute(app, deps, pages);
  changeRoutes(app, deps, pages);
  secretRoute(app, deps, pages);
  sendRoutes(app, deps, pages);
  // The answer to these forms has the form's path. If a user opens it again: redirect to the page.
  for (const part of ['rotate', 'test'])
    app.get(`${ONE}/${part}`, OWNER, (request, reply) =>
      reply.redirect(
        serverPath(app.site.base, serverOf(request), `/events/${idOf(request).subscriptionId}`),
        303,
      ),
    );
}

const settingsForm = z.looseObject({
  name: fieldText,
  url: fieldText,
  webhook: fieldText,
  template: fieldText,
});

/** Of the subscription when the page was opened. */
const shownRevision = z.coerce.number({ error: () => t(INCOMPLETE) });

function changedMeanwhile() {
  return refused(
    409,
    t('Nothing was done: the settings or the secret were changed since the page was opened.'),
  );
}

function addRoute(app: FastifyInstance, deps: AppDeps, pages: EventPages): void {
  formRoute(app, {
    path: LIST,
    access: OWNER,
    schema: settingsForm.extend({
      type: z.enum(SUBSCRIPTION_TYPES, { error: () => t('Choose one of these.') }),
      newId: hiddenId,
    }),
    secrets: ['webhook'],
    show: (request, typed) =>
      pages.list(request, { form: typed.values.type === 'http' ? 'http' : 'discord', typed }),
    refusalOf: (error) =>
      error instanceof TooManySubscriptionsError
        ? refused(409, t('A server has at most {most} destinations.', { most: MOST_SUBSCRIPTIONS }))
        : undefined,
    run: async ({ request, server, by, path, data, values }) => {
      const { type, name, url, webhook, template, newId } = data;
      const common = { name, kinds: chosenIn(values) };
      const settings = type === 'http' ? { ...common, type, url } : { ...common, type, webhook, template };
      const added = await addSubscription(deps, server._id, settings, by, newId);
      const { _id } = added.subscription;
      if (added.secret === null) return pathOf(path, _id.toHexString(), 'added');
      return { page: pages.one(request, { secret: { text: added.secret } }, _id) };
    },
  });
}

function changeRoutes(app: FastifyInstance, deps: AppDeps, pages: EventPages): void {
  const takeCheck = checkTaker(deps);
  const done = (changed: Subscription | null, path: PathOfServer, message: EventMessage) =>
    changed ? pathOf(path, changed._id.toHexString(), message) : refused(404, noDestination());

  formRoute(app, {
    path: ONE,
    access: OWNER,
    schema: settingsForm.extend({ revision: shownRevision }),
    secrets: ['webhook'],
    show: (request, typed) => pages.one(request, { typed }),
    run: async ({ request, by, data, values, path }) => {
      const { name, url, webhook, template } = data;
      const which = idOf(request);
      const { serverId, subscriptionId: _id } = which;
      const before = await deps.subscriptions.findOne({ _id, serverId });
      // Each type of destination ignores the other's fields.
      const change = {
        name,
        kinds: chosenIn(values),
        template,
        ...(url ? { url } : {}),
        ...(webhook ? { webhook } : {}),
      };
      if (before && before.revision !== data.revision) return changedMeanwhile();
      const dials = before && isOtherAddress(deps, before, change);
      const tooMany = dials ? await takeCheck(request) : null;
      return tooMany ?? done(await changeSubscription(deps, which, change, by), path, 'saved');
    },
  });

  formRoute(app, {
    path: `${ONE}/pause`,
    access: OWNER,
    run: async ({ request, by, path }) =>
      done(await pauseSubscription(deps, idOf(request), by), path, 'paused'),
  });

  formRoute(app, {
    path: `${ONE}/resume`,
    access: OWNER,
    check: takeCheck,
    show: (request) => pages.one(request),
    run: async ({ request, by, path }) =>
      done(await resumeSubscription(deps, idOf(request), by), path, 'resumed'),
  });

  formRoute(app, {
    path: `${ONE}/remove`,
    access: OWNER,
    run: async ({ request, by, path }) => {
      // If the form is sent twice: the second request removes nothing, and gets the same answer.
      await removeSubscription(deps, idOf(request), by);
      return `${path('/events')}?done=removed`;
    },
  });
}

function secretRoute(app: FastifyInstance, deps: AppDeps, pages: EventPages): void {
  formRoute(app, {
    path: `${ONE}/rotate`,
    access: OWNER,
    schema: z.object({ revision: shownRevision }),
    show: (request) => pages.one(request),
    run: async ({ request, by, data }) => {
      const rotated = await rotateSubscriptionSecret(deps, idOf(request), by, data.revision);
      if (!rotated) return changedMeanwhile();
      const { secret: text, previousValidUntil } = rotated;
      return { page: pages.one(request, { secret: { text, previousValidUntil } }) };
    },
  });
}

/** Forms that send something to the destination now. */
function sendRoutes(app: FastifyInstance, deps: AppDeps, pages: EventPages): void {
  const takeCheck = checkTaker(deps);
  const again = (request: FastifyRequest) => pages.one(request);

  formRoute(app, {
    path: `${ONE}/test`,
    access: OWNER,
    show: again,
    run: async ({ request, server, user }) => {
      const which = idOf(request);
      const proven = roleOf(server, user._id) !== null || isByOperator(deps, request);
      const refusal = await requestSubscriptionTest(deps, which, { userId: user._id.toHexString(), proven });
      if (refusal) return refusedTest(refusal);
      const { serverId, subscriptionId } = which;
      const ids = { serverId: serverId.toHexString(), subscriptionId: subscriptionId.toHexString() };
      const ended = await answerNow(deps, 'test-subscription', ids);
      if (ended.kind !== 'answered') return refused(notAnsweredStatus(ended), notAnsweredText(ended));
      return { page: pages.one(request, { message: notice(...testText(ended.result)) }) };
    },
  });

  formRoute(app, {
    path: `${ONE}/replay`,
    access: OWNER,
    schema: z.object({ event: z.string().max(60) }),
    check: takeCheck,
    show: again,
    run: async ({ request, by, path, data }) => {
      const which = idOf(request);
      const isSent = await replayEvent(deps, which, data.event, by);
      if (isSent) return pathOf(path, which.subscriptionId.toHexString(), 'replayed');
      return refused(404, t('This event is no longer stored, so it cannot be sent again.'));
    },
  });
}

function refusedTest(refusal: SubscriptionTestRefusal) {
  switch (refusal.code) {
    case 'not-found':
      return refused(404, noDestination());
    case 'ownership-not-proven':
      return refused(403, t('Verify that you own the server before you send test events.'));
    case 'too-many':
      return refused(429, tooManyChecks(), refusal.nextAllowedAt);
  }
}

function idOf(request: FastifyRequest): SubscriptionOf {
  return { serverId: serverOf(request)._id, subscriptionId: idParam(request, 'subscriptionId') };
}

function pathOf(path: PathOfServer, id: string, message: EventMessage): string {
  return `${path(`/events/${id}`)}?done=${message}`;
}

function chosenIn(values: Record<string, string>) {
  return EVENT_KIND_NAMES.filter((kind) => values[`kind-${kind}`] === 'yes');
}
