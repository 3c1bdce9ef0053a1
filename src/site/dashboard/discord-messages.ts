import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { OFF_ADVICE, OFF_TEXTS } from '../../events/discord/off-reasons.ts';
import { defineMessage, t } from '../../language/t.ts';
import type { DiscordWebhook } from '../../notifications/discord/discord-webhook.ts';
import type { WebhookTest } from '../../notifications/discord/test-webhook.ts';
import { chooseKinds, removeWebhook, setWebhook } from '../../notifications/discord/webhooks.ts';
import { answerNow } from '../../workflows/answer-now.ts';
import { OWNER } from '../route-options.ts';
import { fieldText, type Typed, UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { formRoute, type PathOfServer, refused } from '../shared/form-route.ts';
import { relative, timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { chosenKinds, kindBoxes, kindsForm } from '../shared/kind-boxes.ts';
import type { Page } from '../shared/layout.ts';
import { notAnsweredStatus, notAnsweredText } from '../shared/not-answered.ts';
import { button, card, confirmed, notice, type Tone } from '../shared/parts.ts';
import { checkTaker } from '../shared/used-up.ts';
import type { DashboardParts } from './dashboard-parts.ts';

export const DISCORD_MESSAGES = {
  'discord-set': defineMessage('Webhook saved. Send a test message to check that messages arrive.'),
  'discord-kinds': defineMessage('Choice of messages saved.'),
  'discord-removed': defineMessage('Webhook removed. No more messages go to Discord.'),
};

/** What the card shows after one of its forms was sent: the entered values with errors, or a message. */
export type DiscordShowing = { typed?: Typed; message?: Html };

type DiscordPage = (request: FastifyRequest, showing: DiscordShowing) => Promise<Page>;

export function discordRoutes(app: FastifyInstance, { deps }: DashboardParts, page: DiscordPage): void {
  const path = '/servers/:serverId/settings/discord';
  const back = (to: PathOfServer, done: keyof typeof DISCORD_MESSAGES) =>
    `${to('/settings')}?done=${done}#discord`;

  formRoute(app, {
    path,
    access: OWNER,
    schema: z.object({ webhook: fieldText }),
    secrets: ['webhook'],
    show: (request, typed) => page(request, { typed }),
    run: async ({ server, by, path: to, data }) => {
      await setWebhook(deps, server._id, data.webhook, by);
      return back(to, 'discord-set');
    },
  });

  formRoute(app, {
    path: `${path}/kinds`,
    access: OWNER,
    schema: kindsForm,
    run: async ({ server, by, path: to, values }) => {
      const isSet = await chooseKinds(deps, server._id, chosenKinds(values), by);
      return isSet ? back(to, 'discord-kinds') : refused(404, t('This server has no Discord webhook.'));
    },
  });

  formRoute(app, {
    path: `${path}/remove`,
    access: OWNER,
    run: async ({ server, by, path: to }) => {
      await removeWebhook(deps, server._id, by);
      return back(to, 'discord-removed');
    },
  });

  formRoute(app, {
    path: `${path}/test`,
    access: OWNER,
    check: checkTaker(deps),
    show: (request) => page(request, {}),
    run: async ({ request, server }) => {
      const ended = await answerNow(deps, 'test-discord', { serverId: server._id.toHexString() });
      if (ended.kind !== 'answered') return refused(notAnsweredStatus(ended), notAnsweredText(ended));
      return { page: page(request, { message: notice(...testText(ended.result)) }) };
    },
  });
}

/** The card with the state of the webhook. It never shows the webhook's address, which is a secret. */
export function discordCard(
  path: string,
  webhook: DiscordWebhook | null,
  { typed = UNTOUCHED, message }: DiscordShowing,
  now: Date,
): Html {
  const about = t(
    'We write to a channel of your Discord server about your vote listener, the server’s status, reviews and votes.',
  );
  return card({
    id: 'discord',
    title: t('Discord messages'),
    isResult: message !== undefined,
    body: html`<p>${about}</p>
      ${message ?? ''} ${webhook ? present(path, webhook, now) : ''} ${addressForm(path, webhook, typed)}`,
  });
}

function present(path: string, webhook: DiscordWebhook, now: Date): Content {
  return html`${stateOf(webhook, now)}
    <div class="actions">
      ${button({ to: `${path}/test`, text: t('Send test message'), kind: 'primary' })}
      ${confirmed({
        text: t('Remove'),
        of: t('the webhook'),
        consequence: t(
          'No more messages go to Discord. The webhook itself stays in Discord until you delete it there.',
        ),
        form: button({ to: `${path}/remove`, text: t('Remove webhook'), kind: 'danger' }),
      })}
    </div>
    <form method="post" action="${path}/kinds" class="stack">
      <fieldset class="stack"><legend>${t('Write about')}</legend>
        ${kindBoxes((kind) => !webhook.kindsOff.includes(kind), 'discord')}
      </fieldset>
      <button type="submit" class="quiet">${t('Save choice')}</button>
    </form>`;
}

function stateOf({ ending, setAt, off, failing }: DiscordWebhook, now: Date): Html {
  if (off) {
    const why = { time: timeAgo(off.at, now), why: t(OFF_TEXTS[off.reason]) };
    return notice(
      'bad',
      html`${t('Messages are off since {time}: {why}', why)} ${t(OFF_ADVICE[off.reason])}`,
    );
  }
  const set = { time: timeAgo(setAt, now), ending: html`<span class="mono">${ending}</span>` };
  const problem =
    failing &&
    t(
      'Failing: Discord refused the last message, {time} ({reason}). Send a test message. If it is refused too, enter the address of another webhook.',
      { time: relative(failing.at, now), reason: failing.reason },
    );
  return html`<p>
    ${t('A webhook is set, {time}. Its id ends with {ending}; its address is secret and not shown.', set)}
  </p>
  ${problem ? notice('bad', problem) : ''}`;
}

function addressForm(path: string, webhook: DiscordWebhook | null, typed: Typed): Html {
  const hint = t(
    'In Discord: Edit channel, Integrations, Webhooks, New webhook, Copy webhook URL. For a post of a forum channel, or a thread, add ?thread_id= and its id. It is stored encrypted and not shown again.',
  );
  return html`<form method="post" action="${path}" class="stack">
      ${fieldsOf(typed).secret('webhook', {
        label: webhook ? t('Address of another webhook') : t('Address of the webhook'),
        hint,
        required: true,
        maxlength: 300,
        autocomplete: 'off',
        spellcheck: false,
        placeholder: 'https://discord.com/api/webhooks/…',
      })}
      <button type="submit" class="${webhook ? 'quiet' : ''}">
        ${webhook ? t('Replace webhook') : t('Save webhook')}
      </button>
    </form>`;
}

function testText(tested: WebhookTest): [Tone, string] {
  switch (tested.kind) {
    case 'sent':
      return ['good', t('Discord accepted the test message. It is in your channel now.')];
    case 'deleted':
      return [
        'bad',
        t(
          'Discord does not know this webhook (404): it was deleted. Create a new one and enter its address.',
        ),
      ];
    case 'unauthorized':
      return [
        'bad',
        t('Discord refuses the token of this webhook (401). Copy its address in Discord again.'),
      ];
    case 'needs-thread':
    case 'no-forum':
    case 'thread-gone':
      return ['bad', `${t(OFF_TEXTS[tested.kind])} ${t(OFF_ADVICE[tested.kind])}`];
    case 'limited':
      return [
        'attention',
        t(
          'Discord accepts no more messages for this webhook at the moment (429). Try again in {seconds} seconds.',
          { seconds: Math.ceil(tested.retryAfterMs / 1_000) },
        ),
      ];
    case 'no-message':
    case 'blocked':
      return [
        'bad',
        t(
          'This listing may not connect to the address of Discord: its operator blocks it. Nothing was sent.',
        ),
      ];
    case 'refused':
      return ['bad', t('Discord refused the message ({reason}).', { reason: tested.reason })];
    case 'unavailable':
      return ['attention', unavailableText(tested.reason)];
    case 'unreadable':
      return ['bad', t('The stored address cannot be read. Enter it again.')];
    case 'none':
      return ['attention', t('This server has no webhook. Enter its address first.')];
  }
}

/** `reason`: `HTTP`, the status code and the beginning of the response; or the code of a connection error. */
function unavailableText(reason: string): string {
  if (reason.startsWith('HTTP'))
    return t('Discord answered with an error ({reason}). Try again in some minutes.', {
      reason: /^HTTP \d{3}/.exec(reason)?.[0] ?? t('no status'),
    });
  if (reason.startsWith('dns-'))
    return t('The name of Discord could not be resolved. Try again in some minutes.');
  if (['no-answer', 'silent', 'connect-timeout'].includes(reason))
    return t(
      'Discord did not answer in time. Try again in some minutes; look in your channel first, the message may have arrived.',
    );
  return t('The connection to Discord failed ({reason}). Try again in some minutes.', { reason });
}
