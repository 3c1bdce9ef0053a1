import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WithId } from 'mongodb';
import { z } from 'zod';
import { isProbed } from '../../games/games.ts';
import { t } from '../../language/t.ts';
import { after, DAY, MINUTE } from '../../platform/clock.ts';
import { dayOf } from '../../platform/periods/period-marks.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import {
  LONGEST_PAUSE_MS,
  LONGEST_PAUSE_TEXT,
  MOST_PAUSES,
  PAUSE_DAYS,
  pauseAt,
} from '../../servers/listing-pause.ts';
import type { Server } from '../../servers/server.ts';
import { checkPausedServerNow } from '../../workflows/answer-now.ts';
import {
  type PauseRefusal,
  pauseListing,
  resumeListing,
  whyNotPaused,
} from '../../workflows/pause-listing.ts';
import { OWNER } from '../route-options.ts';
import type { Site } from '../shared/decorate-site.ts';
import { fieldText, type Typed, UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { formRoute, type RefusedForm, refused } from '../shared/form-route.ts';
import { count, timeText } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import type { Page } from '../shared/layout.ts';
import { notAnsweredStatus, notAnsweredText } from '../shared/not-answered.ts';
import { button, card, linkTo, notice } from '../shared/parts.ts';
import { checkTaker } from '../shared/used-up.ts';

/** The buttons and the form of the card "Pause" on the settings page. */
export function pauseRoutes(
  app: FastifyInstance,
  deps: AppDeps,
  page: (request: FastifyRequest, pause: Typed) => Promise<Page>,
): void {
  const takeCheck = checkTaker(deps);

  formRoute(app, {
    path: '/servers/:serverId/settings/pause',
    access: OWNER,
    schema: z.object({
      until: z.union([z.literal(''), z.iso.date({ error: () => t('must be a day such as 2026-11-20') })]),
      text: fieldText,
      shown: fieldText,
    }),
    fields: { dateOfReturn: 'until' },
    show: page,
    run: async ({ server, by, path, data }) => {
      if (data.shown !== shownPause(server, deps.clock.now()))
        return refused(409, t('Nothing was saved: the pause began or ended since the page was opened.'));
      const until = data.until === '' ? undefined : new Date(data.until);
      const paused = await pauseListing(deps, server._id, { until, text: data.text }, by);
      if (paused.kind !== 'paused') return refusedPause(paused);
      return `${path('/settings')}?done=${paused.isNew ? 'paused' : 'pause-changed'}`;
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/settings/pause/end',
    access: OWNER,
    run: async ({ server, by, path }) => {
      await resumeListing(deps, server._id, by);
      return `${path('/settings')}?done=resumed`;
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/settings/pause/check',
    access: OWNER,
    show: page,
    run: async ({ request, server, user, path }) => {
      const tooMany = await takeCheck(request);
      if (tooMany) return tooMany;
      const ended = await checkPausedServerNow(deps, user, server._id);
      if (ended.kind !== 'answered') return refused(notAnsweredStatus(ended), notAnsweredText(ended));
      const { kind } = ended.result;
      if (kind === 'resumed' || kind === 'not-paused') return `${path('/settings')}?done=resumed`;
      return refused(409, whyStillPaused(kind));
    },
  });
}

/** The beginning of the pause that a page shows: a form of before it, or of after it, neither begins nor changes one. */
function shownPause(server: Server, now: Date): string {
  return pauseAt(server, now)?.at.toISOString() ?? '';
}

function whyStillPaused(kind: 'no-answer' | 'no-game' | 'limited' | 'stopped'): string {
  if (kind === 'no-game') return t('Servers of this game are not checked. End the pause with the button.');
  if (kind === 'no-answer')
    return t(
      'The server did not answer at its address, so the pause goes on. Start the server, then check again.',
    );
  return t('Nothing was checked: too many connections go to this address. Try again in a minute.');
}

function refusedPause(refusal: PauseRefusal): RefusedForm {
  if (refusal.kind === 'not-listed') return refused(404, t('No server is listed at this address.'));
  return refused(409, whyNot(refusal));
}

function whyNot(refusal: Exclude<PauseRefusal, { kind: 'not-listed' }>): string {
  switch (refusal.kind) {
    case 'offline':
      return t(
        'A pause cannot begin while the server is offline: this downtime counts. Start the server first.',
      );
    case 'not-known':
      return t(
        'A pause begins only while the server is known to be online. Its last check failed, or its next one has not ended yet. Try again in some minutes.',
      );
    case 'too-many':
      return t('A pause can begin {times} times in {days} days. The next one can begin on {time}.', {
        times: MOST_PAUSES,
        days: PAUSE_DAYS,
        time: timeText(refusal.nextAt),
      });
  }
}

/** `typed`: of a form that was refused. */
export function pauseCard(
  site: Site,
  deps: AppDeps,
  { path, server, typed = UNTOUCHED }: { path: string; server: WithId<Server>; typed?: Typed | undefined },
): Html {
  const now = deps.clock.now();
  const pause = pauseAt(server, now);
  const about = t(
    'For the time between two seasons, a move or a host that sleeps. In a pause this listing takes no votes for the server and does not check it, and no uptime is counted. The page, its history, claims and waiting votes stay. <a>More about a pause</a>',
    { a: linkTo(`${site.base}/docs/pausing`) },
  );
  const limits = t(
    'It begins at once, not while the server is offline, and at most {times} times in {days} days. The public page shows it.',
    { times: MOST_PAUSES, days: PAUSE_DAYS },
  );
  const body = pause
    ? html`${ending(path, server)}${form(path, server, typed, now)}`
    : html`${hindrance(deps, server)}${form(path, server, typed, now)}`;
  return card({
    id: 'pause',
    title: t('Listing pause'),
    body: html`<p>${about}</p>${pause ? '' : html`<p class="hint">${limits}</p>`}${body}`,
  });
}

/** After a pause, the next check makes the status known within seconds, so this is no hindrance. */
const KNOWN_AGAIN_MS = 5 * MINUTE;

function hindrance(deps: AppDeps, server: Server): Content {
  const refusal = whyNotPaused(deps, server);
  const endedAt = server.earlierPauses?.at(-1)?.until;
  const isEndedNow = endedAt !== undefined && endedAt > after(deps.clock.now(), -KNOWN_AGAIN_MS);
  return refusal && !(refusal.kind === 'not-known' && isEndedNow) ? notice('quiet', whyNot(refusal)) : '';
}

function ending(path: string, { game }: Server): Html {
  const check = isProbed(game)
    ? button({ to: `${path}/check`, text: t('Check the server, and end the pause if it answers') })
    : '';
  return html`<div class="actions">
    ${button({ to: `${path}/end`, text: t('End the pause'), kind: 'primary' })}${check}</div>`;
}

function form(path: string, server: Server, typed: Typed, now: Date): Html {
  const { listingPause } = server;
  const pause = pauseAt(server, now);
  const fields = fieldsOf(typed);
  return html`<form method="post" action="${path}" class="stack">
    <input type="hidden" name="shown" value="${shownPause(server, now)}" />
    ${fields.text('until', {
      label: t('Date of return'),
      hint: t('The pause ends by itself when this day begins (UTC). Leave it empty if you do not know yet.'),
      type: 'date',
      min: dayOf(after(now, DAY)),
      max: dayOf(after(now, LONGEST_PAUSE_MS)),
      value: pause?.until ? dayOf(pause.until) : '',
    })}
    ${fields.text('text', {
      id: 'pause-text',
      label: t('What players read'),
      hint: t('One sentence, up to {characters} characters.', { characters: count(LONGEST_PAUSE_TEXT) }),
      maxlength: 2 * LONGEST_PAUSE_TEXT,
      value: (pause && listingPause?.text) || '',
    })}
    <div class="actions"><button type="submit" class="quiet">${
      pause ? t('Save') : t('Begin the pause')
    }</button></div>
  </form>`;
}
