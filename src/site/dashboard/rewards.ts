import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { REWARDS, type Rewards } from '../../listeners/listener.ts';
import { setRewards } from '../../listeners/rewards.ts';
import { serverOf, userOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { card, notice, select } from '../shared/parts.ts';
import type { DashboardParts } from './dashboard-parts.ts';

const REWARD_TEXTS: Record<Rewards, Text> = {
  push: defineMessage('The listener receives each vote'),
  claims: defineMessage('A plugin asks for votes and claims them'),
  both: defineMessage('Both'),
};

const form = z.object({ rewards: z.enum(REWARDS) });

/** `POST …/listener/rewards`: stores how players get their rewards. */
export function rewardsRoute(app: FastifyInstance, { deps }: DashboardParts): void {
  formRoute(app, {
    path: '/servers/:serverId/listener/rewards',
    access: OWNER,
    schema: form,
    run: async ({ request, data }) => {
      const server = serverOf(request);
      const isSet = await setRewards(deps, server._id, data.rewards, userOf(request).email);
      if (!isSet) return refused(409, t('This server has no vote listener: its votes can be claimed.'));
      return `${serverPath(app.site.base, server, '/listener')}?done=rewards#rewards`;
    },
  });
}

/**
 * The choice between pushed and claimed rewards.
 *
 * @param hasClaimKeys - whether the server has a claim key, so that a plugin can claim votes
 */
export function rewardsCard(path: string, rewards: Rewards | undefined, hasClaimKeys: boolean): Html {
  const isTwice = (rewards ?? 'both') === 'both' && hasClaimKeys;
  const warning: Content = isTwice
    ? notice(
        rewards === 'both' ? 'quiet' : 'attention',
        t(
          'Each vote can be rewarded twice: by the listener that receives it, and by the plugin that claims it. Choose one of them, unless only one gives rewards.',
        ),
      )
    : '';
  return card({
    id: 'rewards',
    title: t('Rewards'),
    body: html`${warning}
      <form method="post" action="${path}/rewards" class="stack">
        ${select({
          id: 'rewards-choice',
          name: 'rewards',
          label: t('How players are rewarded'),
          hint: t(
            'Applies to votes that are cast from now on. Votes that wait for the listener are still sent.',
          ),
          value: rewards ?? 'both',
          options: REWARDS.map((one): [string, string] => [one, t(REWARD_TEXTS[one])]),
        })}
        <div class="actions"><button type="submit" class="quiet">${t('Save')}</button></div>
      </form>`,
  });
}
