import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { removeGoal, setGoal } from '../../goals/change-goal.ts';
import {
  EARLIER_ROUNDS_KEPT_MS,
  GOAL_PERIODS,
  type GoalPeriod,
  type GoalRound,
  LONGEST_GOAL_TEXT,
  MOST_TARGET,
} from '../../goals/goal.ts';
import { type GoalProgress, readGoalProgress } from '../../goals/goal-progress.ts';
import { lastRounds } from '../../goals/goal-rounds.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { DAY } from '../../platform/clock.ts';
import { startOfDay } from '../../platform/periods/period-marks.ts';
import type { Server } from '../../servers/server.ts';
import { PageError } from '../error-pages.ts';
import { serverOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { fieldText, type Typed, UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { count, dayText, localTime } from '../shared/format.ts';
import { goalPart } from '../shared/goal-parts.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { button, card, confirmed, dataTable, linkTo } from '../shared/parts.ts';
import { radios } from '../shared/radios.ts';
import { writtenLine } from '../shared/written-text.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { serverFrame } from './server-frame.ts';

const MESSAGES = {
  saved: defineMessage('Vote goal saved.'),
  removed: defineMessage('Vote goal removed.'),
};

const PERIODS: Record<GoalPeriod, { text: Text; about: Text }> = {
  day: {
    text: defineMessage('Per day'),
    about: defineMessage('It can be reached once a UTC day, and begins again at midnight.'),
  },
  week: {
    text: defineMessage('Per week'),
    about: defineMessage('It can be reached once a week, and begins again on Monday, 00:00 UTC.'),
  },
  month: {
    text: defineMessage('Per month'),
    about: defineMessage('It can be reached once a month, and begins again on the first day, 00:00 UTC.'),
  },
  rolling: {
    text: defineMessage('In rounds'),
    about: defineMessage('When it is reached, the next round begins with the votes that are left over.'),
  },
};

const SHOWN_ROUNDS = 20;

/** `/dashboard/servers/<id>/goal`: the vote goal, and when it was reached. */
export function goalPage(app: FastifyInstance, { deps }: DashboardParts): void {
  const { site } = app;
  const page = async (request: FastifyRequest, typed = UNTOUCHED): Promise<Page> => {
    const server = serverOf(request);
    const now = deps.clock.now();
    const path = serverPath(site.base, server, '/goal');
    const [goal, rounds] = await Promise.all([
      readGoalProgress(deps, server._id),
      lastRounds(deps, server._id, SHOWN_ROUNDS),
    ]);
    const shown = shownGoal(server);
    const body = html`${goal ? presentCard(path, goal, shown) : ''}
      ${formCard(site.base, { path, goal, shown }, typed)}
      ${goal || rounds.length > 0 ? roundsCard(rounds) : ''}`;
    return {
      title: `${t('Vote goal')} · ${server.name}`,
      messages: MESSAGES,
      ...serverFrame({ site, deps, server, now, part: '/goal', body }),
    };
  };

  app.get('/servers/:serverId/goal', OWNER, async (request, reply) =>
    sendPage(request, reply, await page(request)),
  );

  formRoute(app, {
    path: '/servers/:serverId/goal',
    access: OWNER,
    schema: z.object({ target: fieldText, period: fieldText, text: fieldText, shown: fieldText }),
    show: page,
    run: async ({ server, by, path, data: { shown, ...data } }) => {
      if (shown !== shownGoal(server)) return changedMeanwhile();
      if (!(await setGoal(deps, server._id, data, by)))
        throw new PageError(404, t('No server is listed at this address.'));
      return `${path('/goal')}?done=saved`;
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/goal/remove',
    access: OWNER,
    schema: z.object({ shown: fieldText }),
    show: (request) => page(request),
    run: async ({ server, by, path, data }) => {
      // If the form is sent twice: nothing is left to remove.
      if (server.goalId && data.shown !== shownGoal(server)) return changedMeanwhile();
      await removeGoal(deps, server._id, by);
      return `${path('/goal')}?done=removed`;
    },
  });
}

/** Of the goal when the page was opened: the form of an old page changes no later one. */
function shownGoal({ goalId }: Pick<Server, 'goalId'>): string {
  return goalId?.toHexString() ?? '';
}

function changedMeanwhile() {
  return refused(409, t('Nothing was done: the goal was changed since the page was opened.'));
}

function presentCard(path: string, goal: GoalProgress, shown: string): Html {
  const form = button({
    to: `${path}/remove`,
    text: t('Remove the goal'),
    kind: 'danger',
    hidden: { shown },
  });
  const remove = confirmed({
    text: t('Remove the goal'),
    consequence: t('Players no longer see it. A goal that you set later counts from zero.'),
    form,
  });
  return card({
    title: t('As players see it'),
    body: html`<div class="goal-shown">${goalPart(goal)}</div>${remove}`,
  });
}

type GoalForm = { path: string; goal: GoalProgress | null; shown: string };

function formCard(base: string, { path, goal, shown }: GoalForm, typed: Typed): Html {
  const { values, errors } = typed;
  const fields = fieldsOf(typed);
  const counts = t(
    'Votes count from the moment you set the goal, without held and excluded ones; a held vote counts when it is released. The goal is reached up to half a minute after its last vote. If an operator excludes votes later, no round is taken back. <a>More about goals</a>',
    { a: linkTo(`${base}/docs/goals`) },
  );
  const again = t('Another number or period begins a new goal from zero. Another sentence does not.');
  return card({
    title: goal ? t('Change the goal') : t('Set a goal'),
    body: html`<p>${counts}</p>
      <form method="post" action="${path}" class="stack">
        <input type="hidden" name="shown" value="${shown}" />
        ${fields.text('target', {
          label: t('Votes that reach the goal'),
          type: 'number',
          min: 1,
          max: MOST_TARGET,
          required: true,
          value: goal ? String(goal.target) : '',
        })}
        ${radios({
          name: 'period',
          label: t('Which votes count together'),
          required: true,
          error: errors.period,
          value: values.period ?? goal?.period,
          options: GOAL_PERIODS.map((value) => ({
            value,
            text: t(PERIODS[value].text),
            about: t(PERIODS[value].about),
          })),
        })}
        ${fields.text('text', {
          label: t('What happens then'),
          hint: t('One sentence, up to {characters} characters. Players read it with the goal.', {
            characters: count(LONGEST_GOAL_TEXT),
          }),
          value: goal?.text ?? '',
          maxlength: 2 * LONGEST_GOAL_TEXT,
        })}
        ${goal ? html`<p class="hint">${again}</p>` : ''}
        <button type="submit">${goal ? t('Save') : t('Set the goal')}</button>
      </form>`,
  });
}

function roundsCard(rounds: GoalRound[]): Html {
  const kept = t('Rounds of earlier goals are shown for {days} days.', {
    days: EARLIER_ROUNDS_KEPT_MS / DAY,
  });
  return card({
    title: t('Reached'),
    body: html`${dataTable({
      caption: t('Reached'),
      columns: [
        { title: t('Round'), heads: true, cell: roundName },
        { title: t('Reached on'), cell: ({ at }) => localTime(at) },
        { title: t('Goal'), kind: 'number', cell: ({ target }) => count(target) },
        { title: t('Votes'), kind: 'number', cell: ({ votes }) => count(votes) },
        { title: t('What happens then'), cell: ({ text }) => (text ? writtenLine(text) : '–') },
      ],
      rows: rounds,
      empty: t('Not reached yet.'),
    })}${rounds.length > 0 ? html`<p class="small soft">${kept}</p>` : ''}`,
  });
}

/** `21 Nov 2026`, `Week from 16 Nov 2026`, `Round 3`: the first day of its period, or its number. */
function roundName({ round, period }: GoalRound): Content {
  if (period === 'rolling') return t('Round {number}', { number: count(Number(round)) });
  const day = dayText(startOfDay(round));
  if (period === 'week') return t('Week from {day}', { day });
  return period === 'month' ? t('Month from {day}', { day }) : day;
}
