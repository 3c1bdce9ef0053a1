import type { FastifyInstance } from 'fastify';
import { type EarlierVotes, sendEarlierVotes } from '../../delivery/earlier-votes.ts';
import { t } from '../../language/t.ts';
import { RESENDABLE_DAYS } from '../../listeners/delivery-limits.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { OWNER } from '../route-options.ts';
import { formRoute } from '../shared/form-route.ts';
import { type Html, html } from '../shared/html.ts';
import { button } from '../shared/parts.ts';
import { noListenerRefusal } from './listener-refusals.ts';

/** The notice that some votes are older than the listener and were never sent, with a button that sends them. */
export function earlierVotesNotice(path: string, { votes, more }: EarlierVotes): Html {
  const sentence = more
    ? t('{votes} votes or more were cast before this listener was set, and never sent.', { votes })
    : t(
        '{votes, plural, one {# vote was cast before this listener was set, and never sent.} other {# votes were cast before this listener was set, and never sent.}}',
        { votes },
      );
  return html`<div class="notice attention" role="status">
    <p>${sentence} ${t('Votes can be sent for {days} days after they were cast.', { days: RESENDABLE_DAYS })}</p>
    ${button({
      to: `${path}/send-earlier`,
      text: t('{votes, plural, one {Send it} other {Send them}}', { votes: more ? votes + 1 : votes }),
      kind: 'primary',
    })}
  </div>`;
}

/** `POST …/listener/send-earlier`: sends the votes that were cast before the listener was set. */
export function earlierVotesRoute(app: FastifyInstance, deps: AppDeps): void {
  formRoute(app, {
    path: '/servers/:serverId/listener/send-earlier',
    access: OWNER,
    run: async ({ server, user, by, path }) => {
      const sent = await sendEarlierVotes(deps, server._id, { by, byId: user._id });
      if (!sent) return noListenerRefusal();
      const done = sent.resent > 0 ? 'sent-earlier' : 'none-earlier';
      return `${path('/listener')}?done=${done}`;
    },
  });
}
