import { html } from 'hono/html';
import type { ListenerView } from '../../delivery/listeners.ts';
import { maxSendingsOf } from '../../listeners/delivery-limits.ts';
import type { Content, Html } from '../html.ts';
import { button, confirmed, copyable, facts } from '../parts.ts';
import { counted, timeAgo } from '../words.ts';
import { protocolName } from './listener-form.ts';

/** A listener's settings without secrets, and actions on them. */
export function settingsCard(path: string, listener: ListenerView, now: Date): Html {
  const { protocol, host, port, url, serviceName, updatedAt, waiting, revision } = listener;
  const sendings = counted(maxSendingsOf(listener), 'time');
  const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  return html`${facts([
    ['Protocol', protocolName(protocol)],
    [url ? 'URL' : 'Address', html`<span class="mono">${url ?? address}</span>`],
    ['Service name', url ? null : serviceName],
    [SECRET_NAMES[protocol], 'set'],
    ['Without an answer', `a vote is sent at most ${sendings}`],
    ['Changed', timeAgo(updatedAt, now)],
  ])}
  <div class="actions">
    <a class="button quiet" href="${path}?protocol=${protocol}#settings">Change</a>
    ${protocol === 'http' ? rotateButton(path, revision) : ''}
    ${confirmed({
      text: 'Remove',
      of: 'the listener',
      consequence: removal(waiting),
      form: button({ to: `${path}/remove`, text: 'Remove listener', kind: 'danger' }),
    })}
  </div>
  ${protocol === 'http' ? verifying() : ''}`;
}

const SECRET_NAMES = { 'votifier-v2': 'Token', 'votifier-v1': 'Public key', http: 'Secret' } as const;

function removal(waiting: number): string {
  const queued =
    waiting === 0
      ? 'No votes are waiting.'
      : `${counted(waiting, 'vote')} ${waiting === 1 ? 'is waiting and leaves' : 'are waiting and leave'} the queue.`;
  return `Votes are still counted, but no longer forwarded. ${queued} After you set up a listener again, you can send votes for up to 30 days after they were cast.`;
}

function rotateButton(path: string, revision: number): Html {
  return confirmed({
    text: 'New secret',
    consequence:
      'A new secret is created and shown once. For 24 hours, votes are signed with both the old and the new secret, so that you can switch without losing votes. Any older secret stops working at once.',
    form: button({
      to: `${path}/rotate`,
      text: 'Create new secret',
      kind: 'primary',
      hidden: { revision: String(revision) },
    }),
  });
}

/** Shows a new secret once. */
export function secretShownOnce(secret: string, previousValidUntil: Content): Html {
  return html`<section class="card">
    <h2>Your signing secret</h2>
    <p>Copy it now: it is shown only once. Your website uses it to verify that votes come from this listing.</p>
    ${copyable(secret, 'the secret')}
    ${previousValidUntil ? html`<p>Votes are also signed with the old secret until ${previousValidUntil}.</p>` : ''}
  </section>`;
}

const MESSAGE = JSON.stringify({
  type: 'vote.cast',
  data: {
    vote_id: '01998a3e-7e4b-7000-8000-0123456789ab',
    server_id: '0123456789abcdef01234567',
    username: 'Steve',
    voted_at: '2026-11-21T08:00:00.000Z',
  },
});

const VERIFYING = `import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.VOTE_SECRET);
// In your route: the raw body as text, and the request's headers.
const { type, data } = webhook.verify(body, headers); // throws if the signature is invalid
if (type === 'listener.challenge') return { challenge: data.challenge };
if (await isNew(data.vote_id)) await reward(data.username);`;

function verifying(): Html {
  return html`<details>
    <summary>How to receive and verify votes</summary>
    <div class="spaced">
      <p>Each vote is a <code>POST</code> with this JSON:</p>
      ${copyable(MESSAGE, 'an example message')}
      <p>It is signed according to <a href="https://www.standardwebhooks.com" rel="noreferrer">Standard Webhooks</a>, which has
        libraries for a dozen languages. In JavaScript:</p>
      ${copyable(VERIFYING, 'the verification in JavaScript')}
      <p>Before the first vote, and from time to time, we send a <code>listener.challenge</code> message. Answer with its
        challenge, as above, to show that your website accepts votes. Otherwise no votes are sent.</p>
      <p>Answer with any 2xx status. If your answer gets lost, the vote is sent again with the same <code>webhook-id</code>,
        which is the <code>vote_id</code>. Store the ids of rewarded votes to avoid duplicates.</p>
    </div>
  </details>`;
}
