import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ObjectId } from 'mongodb';
import { z } from 'zod';
import {
  type ListenerView,
  pauseListener,
  removeListener,
  resumeListener,
  setListener,
} from '../../delivery/change-listener.ts';
import { COUNTED_AT_MOST } from '../../delivery/count-votes.ts';
import { countEarlierVotes } from '../../delivery/earlier-votes.ts';
import { setFetchListener } from '../../delivery/fetch/fetch-listener.ts';
import { rotateSecret, setHttpListener } from '../../delivery/http/http-listeners.ts';
import { lastRefusedVote, type RefusedVote } from '../../delivery/refused-vote.ts';
import type { ListenerSet } from '../../delivery/store-listener.ts';
import { countSentNotConfirmed, countUnconfirmed } from '../../delivery/unconfirmed-votes.ts';
import { defineMessage, t } from '../../language/t.ts';
import { PROTOCOLS, type Protocol, REWARDS, type Rewards } from '../../listeners/listener.ts';
import { hostWarning } from '../../platform/address-guard.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { hasClaimKeys } from '../../servers/api-tokens.ts';
import { serverOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { checkTaker } from '../shared/check-taker.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import type { Site } from '../shared/decorate-site.ts';
import { fieldText, type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute, type PathOfServer, refused } from '../shared/form-route.ts';
import { timeText } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { listenerAnnouncement, listenerBadge, listenerStateSection } from '../shared/listener-state-parts.ts';
import { listenerStatusReader } from '../shared/listener-status.ts';
import { livePart } from '../shared/live.ts';
import { card, notice } from '../shared/parts.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { earlierVotesNotice, earlierVotesRoute } from './earlier-votes-notice.ts';
import { gamePortWarning } from './game-port-warning.ts';
import { listenerForm } from './listener-form.ts';
import { noListenerRefusal, settingsRefusal } from './listener-refusals.ts';
import { secretShownOnce, settingsCard } from './listener-settings-card.ts';
import { testCard } from './listener-test-card.ts';
import type { RunTest } from './listener-test-page.ts';
import { mustChooseRewards, notChosen, rewardsCard, rewardsRoute } from './rewards-card.ts';
import { serverFrame } from './server-frame.ts';

/** Messages after settings were stored. The result of a test vote is below the message. */
const SAVED = {
  set: defineMessage('Vote listener saved. The test vote below shows whether votes arrive.'),
  'set-and-resent': defineMessage(
    'Vote listener saved. Waiting votes are being sent, including unconfirmed votes that failed with the earlier token or key.',
  ),
  'set-sent': defineMessage(
    'Vote listener saved. Waiting votes are being sent. If votes marked “sent, not confirmed” did not reach your game, send them again with the link on the listener’s page.',
  ),
};

const MESSAGES = {
  paused: defineMessage('Listener paused. Votes are counted and wait until you resume it.'),
  resumed: defineMessage('Listener resumed. Waiting votes are being sent.'),
  rewards: defineMessage('Rewards saved.'),
  'sent-earlier': defineMessage('The earlier votes are being sent, the oldest first.'),
  'none-earlier': defineMessage('No earlier votes were left to send.'),
  removed: defineMessage('Listener removed. Votes are counted, but no longer forwarded.'),
};

const protocolField = z.enum(PROTOCOLS).optional().catch(undefined);

/** The fields of all protocols. `setListener`, `setHttpListener` and `setFetchListener` each validate their own. */
const settingsForm = z.object({
  protocol: protocolField,
  url: fieldText,
  host: fieldText,
  port: fieldText,
  secret: fieldText,
  serviceName: fieldText,
  maxSendings: z.string().transform(Number).optional(),
  keepUnconfirmed: z.string().optional(),
  rewards: z.enum(REWARDS, { error: () => t('Choose one of these.') }).optional(),
});
const rotateForm = z.object({ revision: z.string().transform(Number) });

/** The protocol that the form of a new listener preselects. It is also used if a form sends no protocol. */
const DEFAULT_PROTOCOL = 'votifier-v2';

type Showing = { protocol?: Protocol | undefined; typed?: Typed; message?: Html };
type ListenerPage = (request: FastifyRequest, showing?: Showing) => Promise<Page>;

/** `/dashboard/servers/<id>/listener`: the vote listener's settings and state. */
export function listenerPages(app: FastifyInstance, parts: DashboardParts, runTest: RunTest): void {
  const page = listenerPage(app.site, parts.deps);
  app.get('/servers/:serverId/listener', OWNER, async (request, reply) => {
    const { protocol } = request.query as { protocol?: unknown };
    return sendPage(request, reply, await page(request, { protocol: protocolField.parse(protocol) }));
  });
  settingsRoutes(app, parts.deps, page, runTest);
  queueRoutes(app, parts.deps, page);
  earlierVotesRoute(app, parts.deps);
  rewardsRoute(app, parts, (request, typed) => page(request, { typed }));
}

function listenerPage(site: Site, deps: AppDeps): ListenerPage {
  const statusOf = listenerStatusReader(deps);
  return async (request, { protocol, typed = UNTOUCHED, message } = {}) => {
    const server = serverOf(request);
    const path = serverPath(site.base, server, '/listener');
    const [{ listener, queuePaused }, hasKeys] = await Promise.all([
      statusOf(server._id),
      hasClaimKeys(deps, server._id),
    ]);
    const [earlier, refused] = listener
      ? await Promise.all([countEarlierVotes(deps, listener), lastRefusedVote(deps, listener)])
      : [null, null];
    const now = deps.clock.now();
    const settings =
      listener && !protocol
        ? settingsCard(path, listener, now)
        : listenerForm({
            path,
            protocol: protocol ?? DEFAULT_PROTOCOL,
            listener,
            typed,
            unconfirmed: listener?.unconfirmed ?? (await countUnconfirmed(deps, server._id, COUNTED_AT_MOST)),
            serviceName: deps.config.SERVICE_NAME,
            hasClaimKeys: hasKeys,
          });
    const present = listener && [
      statusPart(path, { listener, queuePaused, refused }, now),
      testCard(path, listener, now),
      rewardsCard(path, {
        rewards: (typed.values.rewards as Rewards | undefined) ?? listener.rewards ?? undefined,
        hasClaimKeys: hasKeys,
        error: typed.errors.rewards,
      }),
    ];
    const warning = listener?.host && hostWarning(listener.host, deps.config);
    const body: Content = [
      message,
      earlier && earlier.votes > 0 ? earlierVotesNotice(path, earlier) : '',
      warning && notice('attention', warning),
      listener ? gamePortWarning(listener, server) : '',
      present ??
        html`<p>${t('Votes are already counted. Set up a vote listener to forward them to your game.')}</p>`,
      card({
        id: 'settings',
        title: listener ? t('Settings') : t('Set up the vote listener'),
        body: settings,
      }),
    ];
    return {
      title: t('Vote listener · {server}', { server: server.name }),
      live: listener !== null,
      messages: MESSAGES,
      ...serverFrame({ site, server, now, part: '/listener', body }),
    };
  };
}

type Present = { listener: ListenerView; queuePaused: boolean | null; refused: RefusedVote | null };

/** The state of the listener. This part of the page refreshes itself. */
function statusPart(path: string, { listener, queuePaused, refused }: Present, now: Date): Html {
  return livePart({
    id: 'listener-state',
    href: path,
    announcement: listenerAnnouncement(listener),
    // If the server fetches its votes and has not called yet: refresh often, so that the owner sees the first call at
    // once.
    open: listener.waiting > 0 || (listener.protocol === 'fetch' && !listener.fetched),
    body: card({
      title: t('Status'),
      actions: listenerBadge(listener, now),
      body: listenerStateSection({ listener, queuePaused, refused }, path, now),
    }),
  });
}

/** The form that stores settings, and the form that replaces the secret. */
function settingsRoutes(app: FastifyInstance, deps: AppDeps, page: ListenerPage, runTest: RunTest): void {
  formRoute(app, {
    path: '/servers/:serverId/listener',
    access: OWNER,
    schema: settingsForm,
    check: checkTaker(deps),
    show: (request, typed) =>
      page(request, { protocol: protocolField.parse(typed.values.protocol) ?? DEFAULT_PROTOCOL, typed }),
    refusalOf: settingsRefusal,
    run: async ({ request, server, by, path, data }) => {
      const { _id: serverId } = server;
      // If there is a claim key and no listener yet: players could be rewarded twice, so the owner must choose.
      if (!data.rewards && (await mustChooseRewards(deps, serverId))) return notChosen();
      const { set, secret } = await store(deps, serverId, data, by);
      // If a secret was created: send no test vote, because the owner must first set the secret on the server.
      if (secret) return { page: page(request, { message: secretShownOnce(secret, null) }) };
      // If the server fetches its votes: run no test, because it would fail before the owner has installed the relay.
      if (set.protocol === 'fetch') return `${path('/connect')}?done=fetching#relay`;
      const saved = notice('good', t(SAVED[await doneOf(deps, set)]));
      return runTest(request, html`${saved}${gamePortWarning(set, server)}`);
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/listener/rotate',
    access: OWNER,
    schema: rotateForm,
    show: (request) => page(request),
    run: async ({ request, server, by, data }) => {
      const rotated = await rotateSecret(deps, server._id, by, data.revision);
      if (!rotated)
        return refused(
          409,
          t(
            'The listener has changed since you opened this page, so no secret was created. If you sent the form twice, the first request created it.',
          ),
        );
      const { secret, previousValidUntil } = rotated;
      return { page: page(request, { message: secretShownOnce(secret, timeText(previousValidUntil)) }) };
    },
  });
}

type Stored = {
  set: ListenerSet;
  /** The secret of a new HTTP listener, which is shown once; else null. */
  secret: string | null;
};

async function store(
  deps: AppDeps,
  serverId: ObjectId,
  { protocol = DEFAULT_PROTOCOL, url, host, maxSendings, ...data }: z.output<typeof settingsForm>,
  by: string,
): Promise<Stored> {
  const unanswered = {
    ...(maxSendings === undefined ? {} : { maxSendings }),
    resendUsedUp: data.keepUnconfirmed !== 'yes',
    // If the form has no choice of rewards: the listener rewards players. An existing listener keeps its choice.
    rewards: data.rewards ?? 'push',
  };
  if (protocol === 'fetch') {
    const settings = { serviceName: data.serviceName, ...unanswered };
    return { set: await setFetchListener(deps, serverId, settings, by), secret: null };
  }
  if (protocol === 'http') {
    const before = await deps.listeners.findOne({ serverId }, { projection: { serviceName: 1 } });
    const serviceName = before?.serviceName ?? deps.config.SERVICE_NAME;
    const { listener, secret } = await setHttpListener(
      deps,
      serverId,
      { url, serviceName, ...unanswered },
      by,
    );
    return { set: listener, secret };
  }
  const secret = data.secret.trim() === '' ? null : data.secret;
  const port = data.port.trim() === '' ? Number.NaN : Number(data.port);
  const settings = { protocol, host, port, secret, serviceName: data.serviceName, ...unanswered };
  return { set: await setListener(deps, serverId, settings, by), secret: null };
}

/** The code of the message after settings were stored. */
async function doneOf(deps: AppDeps, set: ListenerSet): Promise<keyof typeof SAVED> {
  if (set.resent > 0) return 'set-and-resent';
  if (!set.isCredentialsChange) return 'set';
  return (await countSentNotConfirmed(deps, set.serverId, 1)) > 0 ? 'set-sent' : 'set';
}

/** The forms that pause, resume and remove the listener. */
function queueRoutes(app: FastifyInstance, deps: AppDeps, page: ListenerPage): void {
  const back = (path: PathOfServer, done: keyof typeof MESSAGES) => `${path('/listener')}?done=${done}`;

  formRoute(app, {
    path: '/servers/:serverId/listener/pause',
    access: OWNER,
    run: async ({ server, by, path }) => {
      const isPaused = await pauseListener(deps, server._id, by);
      return isPaused ? back(path, 'paused') : noListenerRefusal();
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/listener/resume',
    access: OWNER,
    check: checkTaker(deps),
    show: (request) => page(request),
    run: async ({ server, by, path }) => {
      const isResumed = await resumeListener(deps, server._id, by);
      return isResumed ? back(path, 'resumed') : noListenerRefusal();
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/listener/remove',
    access: OWNER,
    run: async ({ server, by, path }) => {
      // If the form is sent twice: the second request removes nothing, and gets the same answer.
      await removeListener(deps, server._id, by);
      return back(path, 'removed');
    },
  });
}
