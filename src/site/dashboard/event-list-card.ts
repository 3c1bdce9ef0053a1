import { EVENT_KINDS } from '../../events/kinds.ts';
import type { Subscription } from '../../events/subscription.ts';
import { t } from '../../language/t.ts';
import { hostAndPort } from '../../platform/host-and-port.ts';
import { timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { badge, card, dataTable, linkTo } from '../shared/parts.ts';

export function eventListCard(base: string, path: string, subscriptions: Subscription[], now: Date): Html {
  const about = t(
    'What happens to this server can be sent to up to ten destinations: a channel in Discord, or a program of yours. These are notices: an event can come twice, and rewards belong to the vote listener. <a>More about events</a>',
    { a: linkTo(`${base}/docs/events`) },
  );
  return card({
    title: t('Destinations'),
    body: html`<p>${about}</p>${dataTable({
      caption: t('Destinations'),
      columns: [
        { title: t('Name'), heads: true, cell: ({ _id, name }) => html`<a href="${path}/${_id.toHexString()}"><bdi>${name}</bdi></a>` },
        { title: t('Address'), kind: 'address', cell: addressOf },
        { title: t('Events'), cell: ({ kinds }) => kinds.map((kind) => t(EVENT_KINDS[kind].title)).join(', ') },
        { title: t('State'), cell: (one) => stateBadge(one) },
        { title: t('Last sent'), cell: ({ lastSentAt }) => (lastSentAt ? timeAgo(lastSentAt, now) : '–') },
      ],
      rows: subscriptions,
      empty: t('There are no destinations yet.'),
    })}`,
  });
}

/** The path of a URL can contain a secret, and the address of a webhook is one. */
export function addressOf({ url, ending }: Subscription): Content {
  if (url) {
    const { protocol, hostname, port } = new URL(url);
    return html`<bdi>${protocol}//${port ? hostAndPort(hostname, Number(port)) : hostname}/…</bdi>`;
  }
  return t('Discord webhook …{ending}', { ending: ending ?? '' });
}

export function stateBadge({ pause, failingSince, lastSentAt }: Subscription): Html {
  if (pause?.by === 'owner') return badge('quiet', t('paused'));
  if (pause) return badge('bad', t('paused after failures'));
  if (failingSince) return badge('attention', t('failing'));
  return lastSentAt ? badge('good', t('works')) : badge('quiet', t('nothing sent yet'));
}
