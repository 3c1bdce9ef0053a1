import type { ListenerView } from '../../delivery/change-listener.ts';
import { SECRET_OVERLAP_MS } from '../../delivery/http/http-listeners.ts';
import { defineMessage, t } from '../../language/t.ts';
import { maxSendingsOf, RESENDABLE_DAYS } from '../../listeners/delivery-limits.ts';
import { HOUR } from '../../platform/clock.ts';
import { hostAndPort } from '../../platform/host-and-port.ts';
import { counted, timeAgo, timeText } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';
import { button, confirmed, copyable, facts } from '../shared/parts.ts';
import { protocolName } from '../shared/protocol-choices.ts';

/** The body of the card with the stored settings. It shows no secrets. */
export function settingsCard(path: string, listener: ListenerView, now: Date): Html {
  const { protocol, host, port, url, serviceName, updatedAt, waiting, revision } = listener;
  const sendings = counted(maxSendingsOf(listener), 'time');
  const isDialled = protocol !== 'fetch';
  const address = hostAndPort(host, port);
  return html`${facts([
    [t('Protocol'), protocolName(protocol)],
    [url ? 'URL' : t('Address'), isDialled ? html`<span class="mono">${url ?? address}</span>` : null],
    [t('Service name'), url ? null : serviceName],
    [protocol === 'fetch' ? '' : t(SECRET_NAMES[protocol]), isDialled && t('set')],
    [t('Without an answer'), t('a vote is sent at most {sendings}', { sendings })],
    [t('Changed'), timeAgo(updatedAt, now)],
  ])}
  <div class="actions">
    <a class="button quiet" href="${path}?protocol=${protocol}#settings">${t('Change')}</a>
    ${protocol === 'http' ? rotateButton(path, revision) : ''}
    ${confirmed({
      text: t('Remove'),
      of: t('the listener'),
      consequence: removal(waiting),
      form: button({ to: `${path}/remove`, text: t('Remove listener'), kind: 'danger' }),
    })}
  </div>
  ${protocol === 'http' ? webhookGuide() : ''}`;
}

const SECRET_NAMES = {
  'votifier-v2': defineMessage('Token'),
  'votifier-v1': defineMessage('Public key'),
  http: defineMessage('Secret'),
} as const;

function removal(waiting: number): string {
  const queued =
    waiting === 0
      ? t('No votes are waiting.')
      : t(
          '{waiting, plural, one {# vote is waiting and leaves} other {# votes are waiting and leave}} the queue.',
          { waiting },
        );
  return t(
    'Votes are still counted, but no longer forwarded. {queued} After you set up a listener again, you can send votes for up to {days} days after they were cast.',
    { days: RESENDABLE_DAYS, queued },
  );
}

function rotateButton(path: string, revision: number): Html {
  return confirmed({
    text: t('New secret'),
    consequence: t(
      'A new secret is created and shown once. For {hours} hours, votes are signed with both the old and the new secret, so that you can switch without losing votes. Any older secret stops working at once.',
      { hours: SECRET_OVERLAP_MS / HOUR },
    ),
    form: button({
      to: `${path}/rotate`,
      text: t('Create new secret'),
      kind: 'primary',
      hidden: { revision: String(revision) },
    }),
  });
}

export function secretShownOnce(secret: string, oldValidUntil?: Date): Html {
  const oldSecret =
    oldValidUntil &&
    t('Votes are also signed with the old secret until {time}.', { time: timeText(oldValidUntil) });
  return html`<section class="card">
    <h2>${t('Your signing secret')}</h2>
    <p>${t('Copy it now: it is shown only once. Your website uses it to verify that votes come from this listing.')}</p>
    ${copyable(secret, t('the secret'))}
    ${oldSecret ? html`<p>${oldSecret}</p>` : ''}
  </section>`;
}

const WEBHOOK_GUIDE_MESSAGE = JSON.stringify({
  type: 'vote.cast',
  data: {
    vote_id: '01998a3e-7e4b-7000-8000-0123456789ab',
    server_id: '0123456789abcdef01234567',
    username: 'Steve',
    voted_at: '2026-11-21T08:00:00.000Z',
  },
});

const WEBHOOK_GUIDE_CODE = `import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.VOTE_SECRET);
// In your route: the raw body as text, and the request's headers.
const { type, data } = webhook.verify(body, headers); // throws if the signature is invalid
if (type === 'listener.challenge') return { challenge: data.challenge };
if (await isNew(data.vote_id)) await reward(data.username);`;

function webhookGuide(): Html {
  const signed = t(
    'It is signed according to <a>Standard Webhooks</a>, which has libraries for a dozen languages. In JavaScript:',
    { a: (text) => html`<a href="https://www.standardwebhooks.com" rel="noreferrer">${text}</a>` },
  );
  const challenge = t(
    'Before the first vote, and from time to time, we send a <code>listener.challenge</code> message. Answer with its challenge, as above, to show that your website accepts votes. Otherwise no votes are sent.',
  );
  const answer = t(
    'Answer with any 2xx status. If your answer gets lost, the vote is sent again with the same <code>webhook-id</code>, which is the <code>vote_id</code>. Store the ids of rewarded votes to avoid duplicates.',
  );
  return html`<details>
    <summary>${t('How to receive and verify votes')}</summary>
    <div class="spaced">
      <p>${t('Each vote is a <code>POST</code> with this JSON:')}</p>
      ${copyable(WEBHOOK_GUIDE_MESSAGE, t('an example message'))}
      <p>${signed}</p>
      ${copyable(WEBHOOK_GUIDE_CODE, t('the verification in JavaScript'))}
      <p>${challenge}</p>
      <p>${answer}</p>
    </div>
  </details>`;
}
