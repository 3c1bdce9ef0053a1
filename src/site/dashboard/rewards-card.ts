import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ObjectId } from 'mongodb';
import { z } from 'zod';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { REWARDS, type Rewards } from '../../listeners/listener.ts';
import { setRewards } from '../../listeners/rewards.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { hasClaimKeys } from '../../servers/api-tokens.ts';
import { OWNER } from '../route-options.ts';
import type { Typed } from '../shared/form.ts';
import { formRoute, type RefusedForm, refused } from '../shared/form-route.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import type { Page } from '../shared/layout.ts';
import { card, notice } from '../shared/parts.ts';
import { radios } from '../shared/radios.ts';
import type { DashboardParts } from './dashboard-parts.ts';

const REWARD_TEXTS: Record<Rewards, { text: Text; about: Text }> = {
  push: {
    text: defineMessage('The listener receives each vote'),
    about: defineMessage(
      'For Votifier plugins, websites and servers that fetch. Plugins that ask for votes are told that claims are off.',
    ),
  },
  claims: {
    text: defineMessage('A plugin asks for votes and claims them'),
    about: defineMessage('For plugins with a claim key. The listener receives no votes.'),
  },
  both: {
    text: defineMessage('Both'),
    about: defineMessage('Only if one of them gives no rewards. If both do, each vote is rewarded twice.'),
  },
};

/** A form that sends no choice is refused with a sentence of its own (`notChosen`). */
export const rewardsChoice = z.enum(REWARDS, { error: () => t('Choose one of these.') }).optional();

export function rewardsRoute(
  app: FastifyInstance,
  { deps }: DashboardParts,
  show: (request: FastifyRequest, typed: Typed) => Promise<Page>,
): void {
  formRoute(app, {
    path: '/servers/:serverId/listener/rewards',
    access: OWNER,
    schema: z.object({ rewards: rewardsChoice }),
    show,
    run: async ({ server, by, path, data: { rewards } }) => {
      if (!rewards) return notChosen();
      const isSet = await setRewards(deps, server._id, rewards, by);
      if (!isSet) return refused(409, t('This server has no vote listener: its votes can be claimed.'));
      return `${path('/listener')}?done=rewards#rewards`;
    },
  });
}

/** If the server has claim keys but no listener yet: players could be rewarded twice, so the owner must choose. */
export async function mustChooseRewards(deps: AppDeps, serverId: ObjectId): Promise<boolean> {
  const existing = await deps.listeners.findOne({ serverId }, { projection: { _id: 1 } });
  return existing === null && (await hasClaimKeys(deps, serverId));
}

export function notChosen(): RefusedForm {
  return { errors: { rewards: t('Choose how players are rewarded.') } };
}

export function rewardsField(value: string | undefined, error?: string): Html {
  return radios({
    name: 'rewards',
    label: t('How players are rewarded'),
    required: true,
    value,
    error,
    options: REWARDS.map((one) => ({
      value: one,
      text: t(REWARD_TEXTS[one].text),
      about: t(REWARD_TEXTS[one].about),
    })),
  });
}

/** `hasClaimKeys`: whether a plugin can claim votes. `error`: what is wrong with the entered choice. */
export function rewardsCard(
  path: string,
  rewards: Rewards | undefined,
  hasClaimKeys: boolean,
  error: string | undefined,
): Html {
  return card({
    title: t('Rewards'),
    body: html`${rewardsNotice(rewards, hasClaimKeys)}
      <form method="post" action="${path}/rewards" class="stack">
        ${rewardsField(rewards, error)}
        <p class="hint">${t(
          'Applies to votes that are cast from now on. Votes that wait for the listener are still sent.',
        )}</p>
        <div class="actions"><button type="submit" class="quiet">${t('Save')}</button></div>
      </form>`,
  });
}

function rewardsNotice(rewards: Rewards | undefined, hasClaimKeys: boolean): Content {
  const twice = t(
    'Each vote can be rewarded twice: by the listener that receives it, and by the plugin that claims it. Choose one of them, unless only one gives rewards.',
  );
  if (rewards === undefined) {
    const open = t('You have not chosen yet. Until you do, both apply.');
    return notice('attention', hasClaimKeys ? html`${open} ${twice}` : open);
  }
  return rewards === 'both' && hasClaimKeys ? notice('quiet', twice) : '';
}
