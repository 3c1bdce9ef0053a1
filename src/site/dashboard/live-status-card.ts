import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type LiveMessage, STOP_TEXTS } from '../../events/live-status/live-message.ts';
import {
  removeLiveMessage,
  restartLiveMessage,
  setLiveMessage,
} from '../../events/live-status/live-messages.ts';
import { t } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { OWNER } from '../route-options.ts';
import { fieldText, UNTOUCHED } from '../shared/form.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { badge, button, card, confirmed, facts, notice } from '../shared/parts.ts';
import { checkTaker } from '../shared/used-up.ts';
import { webhookField } from './event-forms.ts';
import type { EventMessage, EventPages, EventsShowing } from './event-showing.ts';

export function liveStatusRoutes(app: FastifyInstance, deps: AppDeps, pages: EventPages): void {
  const path = '/servers/:serverId/events/live';
  const takeCheck = checkTaker(deps);
  const back = (to: (part: string) => string, message: EventMessage) =>
    `${to('/events')}?done=${message}#live`;

  formRoute(app, {
    path,
    access: OWNER,
    schema: z.object({ webhook: fieldText }),
    secrets: ['webhook'],
    check: takeCheck,
    show: (request, typed) => pages.list(request, { form: 'live', typed }),
    run: async ({ server, by, path: to, data }) => {
      await setLiveMessage(deps, server._id, data.webhook, by);
      return back(to, 'live-set');
    },
  });

  formRoute(app, {
    path: `${path}/restart`,
    access: OWNER,
    check: takeCheck,
    show: (request) => pages.list(request),
    run: async ({ server, by, path: to }) => {
      const restarted = await restartLiveMessage(deps, server._id, by);
      return restarted ? back(to, 'live-restarted') : refused(409, t('The live status is not stopped.'));
    },
  });

  formRoute(app, {
    path: `${path}/remove`,
    access: OWNER,
    run: async ({ server, by, path: to }) => {
      await removeLiveMessage(deps, server._id, by);
      return back(to, 'live-removed');
    },
  });
}

/** It never shows the webhook's address, which is a secret. */
export function liveStatusCard(
  path: string,
  live: LiveMessage | null,
  { form, typed = UNTOUCHED }: EventsShowing,
  now: Date,
): Html {
  const about = t(
    'One message in Discord that shows whether the server is online, its players, address, rank, vote goal and the link to vote. We edit it when something changes, at most once a minute, and post it again if somebody deletes it. It needs no bot. Pin it in a channel of its own.',
  );
  const isFolded = live && form !== 'live';
  const shown = form === 'live' ? typed : UNTOUCHED;
  const label = live ? t('Address of another webhook') : t('Address of the webhook');
  const address = html`<form method="post" action="${path}" class="stack">
      ${webhookField('live', shown, label, true)}
      <button type="submit" class="${live ? 'quiet' : ''}">
        ${live ? t('Replace webhook') : t('Start live status')}
      </button>
    </form>`;
  return card({
    id: 'live',
    title: t('Live status in Discord'),
    actions: live ? liveBadge(live) : '',
    body: html`<p>${about}</p>${live ? present(path, live, now) : ''}
      ${isFolded ? html`<details><summary>${t('Use another webhook')}</summary>${address}</details>` : address}`,
  });
}

function liveBadge({ stopped, lastReason, messageId }: LiveMessage): Html {
  if (stopped) return badge('bad', t('stopped'));
  if (lastReason) return badge('attention', t('failing'));
  return messageId ? badge('good', t('works')) : badge('quiet', t('not posted yet'));
}

function present(path: string, live: LiveMessage, now: Date): Html {
  const { webhookName, ending, setAt, editedAt, stopped } = live;
  return html`${stateNotice(live, now)}
    ${facts([
      [t('Webhook'), html`<bdi>${webhookName ?? ''}</bdi> …${ending}`],
      [t('Set'), timeAgo(setAt, now)],
      [t('Last edit'), editedAt && timeAgo(editedAt, now)],
    ])}
    <div class="actions">
      ${stopped ? button({ to: `${path}/restart`, text: t('Start again'), kind: 'primary' }) : ''}
      ${confirmed({
        text: t('Remove'),
        of: t('the live status'),
        consequence: t('We delete the message in Discord. The webhook stays there until you delete it.'),
        form: button({ to: `${path}/remove`, text: t('Remove live status'), kind: 'danger' }),
      })}
    </div>`;
}

function stateNotice({ stopped, lastReason, nextAt }: LiveMessage, now: Date): Content {
  if (stopped) {
    const { why, advice } = STOP_TEXTS[stopped.reason];
    const since = t('Stopped {time}: {why}', { time: timeAgo(stopped.at, now), why: t(why) });
    return notice('bad', html`${since} ${t(advice)}`);
  }
  if (!lastReason) return '';
  const failed = t('Discord did not take the last edit ({reason}).', { reason: lastReason });
  const next = nextAt && t('Next attempt {time}.', { time: timeAgo(nextAt, now) });
  return notice('attention', html`${failed} ${next ?? ''}`);
}
