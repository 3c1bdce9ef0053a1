import { t } from '../../../language/t.ts';
import { DELIVERY_EXPIRES_HOURS } from '../../../listeners/delivery-limits.ts';
import { FORGOTTEN_AFTER_MINUTES } from '../../../listeners/listener-state.ts';
import {
  type AttentionRows,
  FAILED_HOURS,
  type ListenersDown,
  listenersDown,
  type StuckListener,
} from '../../../moderation/needs-attention.ts';
import { serverPath } from '../../shared/dashboard-paths.ts';
import { emptyLine } from '../../shared/empty-card.ts';
import { timeAgo } from '../../shared/format.ts';
import { type Html, html } from '../../shared/html.ts';
import { adminServerPath } from '../admin-frame.ts';
import type { Inbox, TabOf } from './inbox.ts';
import { keysHint, serverCard, undeliveredCard, upTo } from './inbox-parts.ts';

/** Only owners can repair listeners; operators can help. */
export function listenersTab({ deps, base, numbers }: Inbox): TabOf {
  return async () => {
    const [found, { work }] = await Promise.all([listenersDown(deps), numbers.read()]);
    const view = { base, now: deps.clock.now() };
    const cards = [
      listenerCard(view, 'Paused listeners', 'Paused', found.paused),
      listenerCard(view, 'Unreachable listeners', 'Unreachable', found.unreachable),
      unfetchedCard(view, found.unfetched),
      failedVotesCard(view, found.failed),
    ].filter((one) => one !== null);
    const body = html`${cards.length > 0 ? html`${keysHint({})} ${cards}` : emptyLine('No listener is down.')}
      ${undeliveredCard(work)}`;
    return { body };
  };
}

type View = { base: string; now: Date };

function listenerCard(
  { base, now }: View,
  title: string,
  state: string,
  kind: AttentionRows<StuckListener>,
): Html | null {
  return serverCard({
    title,
    about:
      state === 'Paused'
        ? 'Paused because of a configuration error. Their votes wait until the owner fixes it and resumes the listener.'
        : 'Tested automatically. Their votes wait and are sent when the listener answers.',
    kind,
    link: ({ server }) => adminServerPath(base, server),
    columns: [
      {
        title: 'Reason',
        cell: ({ reason: { cause, words } }) =>
          html`${t(cause)}${words ? html` <span class="soft">Listener’s answer: “<bdi>${words}</bdi>”</span>` : ''}`,
      },
      { title: 'Since', cell: ({ reason }) => timeAgo(reason.since, now) },
      { title: 'Votes waiting', kind: 'number', cell: ({ waiting }) => upTo(waiting) },
    ],
  });
}

function unfetchedCard({ base, now }: View, kind: ListenersDown['unfetched']): Html | null {
  return serverCard({
    title: 'Votes that nobody fetches',
    about: `These servers fetch their votes, and have not for ${FORGOTTEN_AFTER_MINUTES} minutes although votes wait. Their owners are notified; the votes fail ${DELIVERY_EXPIRES_HOURS} hours after they were cast.`,
    kind,
    link: ({ server }) => adminServerPath(base, server),
    columns: [
      { title: 'Last fetched, or set up', cell: ({ since }) => timeAgo(since, now) },
      { title: 'Votes waiting', kind: 'number', cell: ({ waiting }) => upTo(waiting) },
    ],
  });
}

function failedVotesCard({ base, now }: View, kind: ListenersDown['failed']): Html | null {
  return serverCard({
    title: 'Failed votes',
    about: `Expired or refused by the listener in the last ${FAILED_HOURS} hours. They still count, and the owner can resend them.`,
    kind,
    link: ({ server }) => serverPath(base, server, '/votes'),
    columns: [
      { title: 'Latest', cell: ({ newest }) => timeAgo(newest, now) },
      { title: 'Votes', kind: 'number', cell: ({ votes }) => upTo(votes) },
    ],
  });
}
