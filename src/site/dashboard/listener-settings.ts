import { html } from 'hono/html';
import type { ListenerView } from '../../delivery/listeners.ts';
import { maxSendingsOf } from '../../listeners/delivery-limits.ts';
import type { Content, Html } from '../html.ts';
import { button, confirmed, copyable, facts } from '../parts.ts';
import { counted, timeAgo } from '../words.ts';
import { protocolName } from './listener-form.ts';

/** How a listener is set, and what can be done to that. No secret is among it. */
export function settingsCard(path: string, listener: ListenerView, now: Date): Html {
  const { protocol, host, port, url, serviceName, updatedAt, waiting, revision } = listener;
  const sendings = counted(maxSendingsOf(listener), 'time');
  const place = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  return html`${facts([
    ['Protocol', protocolName(protocol)],
    [url ? 'URL' : 'Address', html`<span class="mono">${url ?? place}</span>`],
    ['Service name', url ? null : serviceName],
    [SECRET_NAMES[protocol], url ? 'set; it was shown once' : 'set'],
    ['Without an answer', `a vote is sent ${sendings} at most`],
    ['Changed', timeAgo(updatedAt, now)],
  ])}
  <div class="actions">
    <a class="button quiet" href="${path}?protocol=${protocol}#settings">Change</a>
    ${protocol === 'http' ? rotateButton(path, revision) : ''}
    ${confirmed({
      text: 'Remove',
      of: 'the listener',
      consequence: removal(waiting),
      form: button({ to: `${path}/remove`, text: 'Remove the listener', kind: 'danger' }),
    })}
  </div>
  ${protocol === 'http' ? verifying() : ''}`;
}

const SECRET_NAMES = { 'votifier-v2': 'Token', 'votifier-v1': 'Public key', http: 'Secret' } as const;

function removal(waiting: number): string {
  const those =
    waiting === 0
      ? 'No vote waits at the moment.'
      : `${counted(waiting, 'vote')} ${waiting === 1 ? 'waits and is' : 'wait and are'} removed from the queue.`;
  return `Votes go on being counted and are forwarded no more. ${those} All of them can be sent by hand later, up to 30 days after they were cast, once there is a listener again.`;
}

function rotateButton(path: string, revision: number): Html {
  return confirmed({
    text: 'New secret',
    consequence:
      'A new secret is made and shown once. For 24 hours votes are signed with both, so that you can change over without losing one. A secret that an earlier change left is dropped at once.',
    form: button({
      to: `${path}/rotate`,
      text: 'Make a new secret',
      kind: 'primary',
      hidden: { revision: String(revision) },
    }),
  });
}

/** A secret right after it was made. */
export function secretShownOnce(secret: string, previousValidUntil: Content): Html {
  return html`<section class="card">
    <h2>The secret of your listener</h2>
    <p>It is shown only now. Give it to the website that takes the votes: by it a vote is known to be ours.</p>
    ${copyable(secret, 'the secret')}
    ${previousValidUntil ? html`<p>Votes are signed with the old one too until ${previousValidUntil}.</p>` : ''}
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
// In your route: the body as text, as it came, and the request's headers.
const { type, data } = webhook.verify(body, headers); // throws unless it is ours
if (type === 'listener.challenge') return { challenge: data.challenge };
if (await isNew(data.vote_id)) await reward(data.username);`;

function verifying(): Html {
  return html`<details>
    <summary>How to take votes and see that they are ours</summary>
    <div class="spaced">
      <p>Each vote is a <code>POST</code> with this JSON:</p>
      ${copyable(MESSAGE, 'an example of a message')}
      <p>It is signed after <a href="https://www.standardwebhooks.com" rel="noreferrer">Standard Webhooks</a>, which has
        libraries for a dozen languages. In JavaScript:</p>
      ${copyable(VERIFYING, 'the verification in JavaScript')}
      <p>Before the first vote, and now and then, a message of the type <code>listener.challenge</code> comes: answer it
        with its challenge, as above. It shows that your website wants votes; without it none is posted.</p>
      <p>Answer with any 2xx. A vote whose answer was lost comes again under the same <code>webhook-id</code>, which is
        the <code>vote_id</code>: keep the ids that you have rewarded.</p>
    </div>
  </details>`;
}
