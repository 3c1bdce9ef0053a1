import { EVENT_KINDS } from '../../events/kinds.ts';
import { type SubscriptionState, subscriptionState } from '../../events/subscription.ts';
import type { SubscriptionView } from '../../events/subscriptions.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { badge, card, dataTable, linkTo, type Tone } from '../shared/parts.ts';

/** The destinations of a server and what state each is in. */
export function eventListCard(
  base: string,
  path: string,
  subscriptions: SubscriptionView[],
  now: Date,
): Html {
  const about = t(
    'What happens to this server is sent to up to ten destinations: channels in Discord and programs of yours. These are notices: one can come twice or late. Rewards belong to the vote listener, which has its own way. <a>More about events</a>',
    { a: linkTo(`${base}/docs/events`) },
  );
  return card({
    title: t('Destinations'),
    body: html`<p>${about}</p>${dataTable({
      caption: t('Destinations'),
      columns: [
        {
          title: t('Name'),
          heads: true,
          cell: ({ _id, name }) => html`<a href="${path}/${_id.toHexString()}"><bdi>${name}</bdi></a>`,
        },
        { title: t('Address'), kind: 'address', cell: addressOf },
        { title: t('Events'), cell: ({ kinds }) => kindNames(kinds) },
        { title: t('State'), cell: subscriptionBadge },
        { title: t('Last sent'), cell: ({ lastSentAt }) => (lastSentAt ? timeAgo(lastSentAt, now) : '–') },
      ],
      rows: subscriptions,
      empty: t('There are no destinations yet.'),
    })}`,
  });
}

export function kindNames(kinds: SubscriptionView['kinds']): string {
  return kinds.map((kind) => t(EVENT_KINDS[kind].title)).join(', ');
}

/** The address of a webhook is a secret. */
export function addressOf({ url, ending = '' }: SubscriptionView): Content {
  if (url) return html`<bdi class="mono">${url}</bdi>`;
  return t('Discord webhook …{ending}', { ending });
}

const STATES: Record<SubscriptionState, { tone: Tone; text: Text }> = {
  paused: { tone: 'quiet', text: defineMessage('paused') },
  'paused-after-failures': { tone: 'bad', text: defineMessage('paused after failures') },
  gone: { tone: 'bad', text: defineMessage('gone') },
  failing: { tone: 'attention', text: defineMessage('failing') },
  works: { tone: 'good', text: defineMessage('works') },
  'nothing-sent': { tone: 'quiet', text: defineMessage('nothing sent yet') },
};

export function subscriptionBadge(subscription: SubscriptionView): Html {
  const { tone, text } = STATES[subscriptionState(subscription)];
  return badge(tone, t(text));
}
