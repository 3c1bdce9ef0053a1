import type { FastifyInstance } from 'fastify';
import {
  type ListenerView,
  pauseListener,
  removeListener,
  resumeListener,
} from '../../delivery/change-listener.ts';
import { COUNTED_AT_MOST } from '../../delivery/count-votes.ts';
import { countEarlierVotes, type EarlierVotes, sendEarlierVotes } from '../../delivery/earlier-votes.ts';
import { lastRefusedVote, type RefusedVote } from '../../delivery/refused-vote.ts';
import { countUnconfirmed } from '../../delivery/unconfirmed-votes.ts';
import { defineMessage, t } from '../../language/t.ts';
import { RESENDABLE_DAYS } from '../../listeners/delivery-limits.ts';
import type { Rewards } from '../../listeners/listener.ts';
import { hostWarning } from '../../platform/address-guard.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { hasClaimKeys } from '../../servers/api-tokens.ts';
import { serverOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import type { Site } from '../shared/decorate-site.ts';
import { UNTOUCHED } from '../shared/form.ts';
import { formRoute, type PathOfServer, type RefusedForm, refused } from '../shared/form-route.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { listenerAnnouncement, listenerBadge, listenerStateSection } from '../shared/listener-state-parts.ts';
import { listenerStatusReader } from '../shared/listener-status.ts';
import { livePart } from '../shared/live.ts';
import { button, card, notice } from '../shared/parts.ts';
import { checkTaker } from '../shared/used-up.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { listenerForm } from './listener-form.ts';
import {
  DEFAULT_PROTOCOL,
  gamePortWarning,
  type ListenerPage,
  protocolField,
  settingsRoutes,
} from './listener-settings.ts';
import { settingsCard } from './listener-settings-card.ts';
import { type RunTest, testCard } from './listener-test-page.ts';
import { rewardsCard, rewardsRoute } from './rewards-card.ts';
import { serverFrame } from './server-frame.ts';

const MESSAGES = {
  paused: defineMessage('Listener paused. Votes are counted and wait until you resume it.'),
  resumed: defineMessage('Listener resumed. Waiting votes are being sent.'),
  rewards: defineMessage('Rewards saved.'),
  'sent-earlier': defineMessage('The earlier votes are being sent, the oldest first.'),
  'none-earlier': defineMessage('No earlier votes were left to send.'),
  removed: defineMessage('Listener removed. Votes are counted, but no longer forwarded.'),
};

/** `/dashboard/servers/<id>/listener`: the vote listener's settings and state. */
export function listenerPages(app: FastifyInstance, parts: DashboardParts, runTest: RunTest): void {
  const page = listenerPage(app.site, parts.deps);
  app.get('/servers/:serverId/listener', OWNER, async (request, reply) => {
    const { protocol } = request.query as { protocol?: unknown };
    return sendPage(request, reply, await page(request, { protocol: protocolField.parse(protocol) }));
  });
  settingsRoutes(app, parts.deps, page, runTest);
  queueRoutes(app, parts.deps, page);
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
    const rewards = (typed.values.rewards as Rewards | undefined) ?? listener?.rewards ?? undefined;
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
    const isForm = !listener || protocol !== undefined;
    const settingsPart = card({
      id: 'settings',
      title: listener ? t('Settings') : t('Set up the vote listener'),
      body: settings,
    });
    const warning = listener?.host && hostWarning(listener.host, deps.config);
    const body: Content = [
      message,
      earlier && earlier.votes > 0 ? earlierVotesNotice(path, earlier) : '',
      warning && notice('attention', warning),
      listener
        ? gamePortWarning(listener, server)
        : html`<p>${t('Votes are already counted. Set up a vote listener to forward them to your game.')}</p>`,
      isForm ? settingsPart : '',
      listener &&
        html`<div class="deck"><div class="c6 spaced">${statusPart(
          path,
          { listener, queuePaused, refused },
          now,
        )}${testCard(path, listener, now)}</div><div class="c6 spaced">${isForm ? '' : settingsPart}${rewardsCard(
          path,
          rewards,
          hasKeys,
          typed.errors.rewards,
        )}</div></div>`,
    ];
    return {
      title: t('Vote listener · {server}', { server: server.name }),
      live: listener !== null,
      messages: MESSAGES,
      ...serverFrame({ site, deps, server, now, part: '/listener', body }),
    };
  };
}

type Present = { listener: ListenerView; queuePaused: boolean | null; refused: RefusedVote | null };

function statusPart(path: string, { listener, queuePaused, refused }: Present, now: Date): Html {
  return livePart({
    id: 'listener-state',
    href: path,
    announcement: listenerAnnouncement(listener),
    // If the server has not fetched votes yet: refresh often, so that the owner sees the first call at once.
    open: listener.waiting > 0 || (listener.protocol === 'fetch' && !listener.fetched),
    body: card({
      title: t('Status'),
      actions: listenerBadge(listener, now),
      body: listenerStateSection({ listener, queuePaused, refused }, path, now),
    }),
  });
}

/** The forms that pause, resume and remove the listener, and that send the votes cast before it was set. */
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

  formRoute(app, {
    path: '/servers/:serverId/listener/send-earlier',
    access: OWNER,
    run: async ({ server, user, by, path }) => {
      const sent = await sendEarlierVotes(deps, server._id, { by, byId: user._id });
      if (!sent) return noListenerRefusal();
      return back(path, sent.resent > 0 ? 'sent-earlier' : 'none-earlier');
    },
  });
}

/** The listener may have been removed while the page was open. */
function noListenerRefusal(): RefusedForm {
  return refused(404, t('This server has no vote listener.'));
}

function earlierVotesNotice(path: string, { votes, more }: EarlierVotes): Html {
  const sentence = more
    ? t('{votes} votes or more were cast before this listener was set, and never sent.', { votes })
    : t(
        '{votes, plural, one {# vote was cast before this listener was set, and never sent.} other {# votes were cast before this listener was set, and never sent.}}',
        { votes },
      );
  return html`<div class="notice attention" role="status">
    <p>${sentence} ${t('Votes can be sent for {days} days after they were cast.', { days: RESENDABLE_DAYS })}</p>
    ${button({
      to: `${path}/send-earlier`,
      text: t('{votes, plural, one {Send it} other {Send them}}', { votes: more ? votes + 1 : votes }),
      kind: 'primary',
    })}
  </div>`;
}
