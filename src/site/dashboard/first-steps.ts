import type { WithId } from 'mongodb';
import { t } from '../../language/t.ts';
import { settingsProof } from '../../listeners/listener-state.ts';
import { after, DAY } from '../../platform/clock.ts';
import type { Server } from '../../servers/server.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { deckCard } from '../shared/deck.ts';
import { type Html, html } from '../shared/html.ts';
import { icon } from '../shared/icon.ts';
import { hasAbout } from '../shared/profile-parts.ts';
import { strokeMark } from '../shared/tally.ts';
import type { Todo } from './server-todo.ts';

export type Step = { done: boolean; title: string; why?: string; href: string; action: string };

/** The steps are shown for so long. After that, a server without a listener or a banner is meant to be so. */
const NEW_FOR_MS = 30 * DAY;

export function isDescribed({ profile }: Pick<Server, 'profile'>): boolean {
  return hasAbout(profile ?? {}) || Boolean(profile?.shortText);
}

/**
 * What a new server's owner does first. Empty if all is done, or the server is not new any more. `isClaimed`: a plugin
 * claims the votes, so no listener is needed.
 */
export function firstSteps(
  base: string,
  server: WithId<Server>,
  { listener }: Todo,
  { hasVotes, isClaimed, now }: { hasVotes: boolean; isClaimed: boolean; now: Date },
): Step[] {
  if (after(server.listedAt, NEW_FOR_MS) < now) return [];
  const to = (part: string) => serverPath(base, server, part);
  const steps = [
    { done: true, title: t('Add the server'), href: to('/settings'), action: t('Open settings') },
    {
      done: listener !== null || isClaimed,
      href: to('/listener'),
      title: t('Set up the vote listener'),
      why: t('We forward votes to it, so that players get their rewards.'),
      action: t('Set it up'),
    },
    {
      done: listener ? settingsProof(listener) === 'works' : isClaimed,
      href: to('/listener'),
      title: t('Send a test vote'),
      why: t('Shows step by step whether votes arrive. Done when a test vote or a vote has arrived.'),
      action: t('Open vote listener'),
    },
    {
      done: isDescribed(server),
      href: to('/profile'),
      title: t('Describe the server'),
      why: t('Texts, tags and a banner make players choose it.'),
      action: t('Edit the profile'),
    },
    {
      done: hasVotes,
      href: to('#share'),
      title: t('Get the first vote'),
      why: t('Tell your players where to vote, with a link, a banner or a widget.'),
      action: t('Share'),
    },
  ];
  return steps.every(({ done }) => done) ? [] : steps;
}

/** The first open step has the only filled button. */
export function stepsCard(steps: Step[]): Html {
  const done = steps.filter((step) => step.done).length;
  const next = steps.find((step) => !step.done);
  const title = t('Ready for players: {done} of {steps} steps', { done, steps: steps.length });
  const marks = steps.map((_, index) => strokeMark(index < done ? 'arrived' : 'none'));
  return deckCard({
    title: html`${title} <span class="progress">${marks}</span>`,
    columns: 12,
    body: html`<ol class="first-steps">${steps.map((step, index) => item(step, index, step === next))}</ol>`,
  });
}

function item({ done, title, why, href, action }: Step, index: number, isNext: boolean): Html {
  if (done)
    return html`<li class="done"><span class="no">${icon('check')}</span>
      <h3>${title}<span class="for-readers"> ${t('– done')}</span></h3></li>`;
  return html`<li class="${isNext ? 'next' : ''}"><span class="no" aria-hidden="true">${String(index + 1)}</span>
    <div><h3>${title}</h3><p>${why}</p></div>
    <a class="${isNext ? 'button' : 'button quiet'}" href="${href}">${action}<span
      class="for-readers">: ${title}</span></a></li>`;
}
