import { html } from 'hono/html';
import { holdsPrivateKey } from '../../delivery/credentials.ts';
import type { ListenerView } from '../../delivery/listeners.ts';
import { MAX_SENDINGS } from '../../listeners/delivery-limits.ts';
import type { Protocol } from '../../listeners/listener.ts';
import type { Typed } from '../form.ts';
import type { Content, Html } from '../html.ts';
import { checkbox, notice, PORT_LENGTH, select, textArea, textField } from '../parts.ts';
import { counted } from '../words.ts';

/** Each protocol in the words of somebody who has to choose one, the best first. */
const PROTOCOL_WORDS: [Protocol, name: string, of: string][] = [
  ['votifier-v2', 'Votifier v2', 'NuVotifier and most plugins of today. It says whether a vote arrived.'],
  [
    'votifier-v1',
    'Votifier v1',
    'Older plugins, with a public key. Some of them answer and so confirm a vote; most close without an answer.',
  ],
  ['http', 'HTTP', 'For games without Votifier: signed requests to a website of yours.'],
];

export function protocolName(protocol: Protocol): string {
  return PROTOCOL_WORDS.find(([value]) => value === protocol)?.[1] ?? protocol;
}

type Form = {
  /** The page of the listener. */
  path: string;
  protocol: Protocol;
  /** As it is set now; null when none is. */
  listener: ListenerView | null;
  typed: Typed;
  /** Unconfirmed votes of the server, of this listener or of one that was removed. */
  unconfirmed: number;
  /** What we call ourselves unless the owner says otherwise. */
  serviceName: string;
};

/** The choice of a protocol, and the fields that it needs and no other. */
export function listenerForm(form: Form): Html {
  const { path, protocol, listener, typed } = form;
  return html`<nav class="choices" aria-label="Protocol">
      ${PROTOCOL_WORDS.map(
        ([value, name, of]) =>
          html`<a href="${path}?protocol=${value}#settings" ${value === protocol ? html`aria-current="true"` : ''}><strong>${name}</strong><span class="small soft">${of}</span></a>`,
      )}
    </nav>
    <form method="post" action="${path}" class="stack">
      ${typed.errors.form ? notice('bad', typed.errors.form) : ''}
      <input type="hidden" name="protocol" value="${protocol}" />
      ${protocol === 'http' ? urlField(form) : votifierFields(form)}
      ${sendingsField(form)} ${keepField(form)}
      <div class="actions">
        <button type="submit">${listener ? 'Save the settings' : 'Set the listener'}</button>
        ${listener ? html`<a class="button quiet" href="${path}">Leave it as it is</a>` : ''}
      </div>
    </form>`;
}

/** A second sending without an answer to the first may reward a player twice; a vote that is sent once may get lost. */
function sendingsField({ listener, typed: { values, errors } }: Form): Html {
  return select({
    name: 'maxSendings',
    label: 'When no answer comes, send a vote',
    hint: 'It may have arrived all the same: most plugins reward a player again for a second sending.',
    value: values.maxSendings ?? String(listener?.maxSendings ?? MAX_SENDINGS),
    error: errors.maxSendings,
    options: [
      ['1', 'once, and never again by itself'],
      ['2', 'twice at most'],
      ['3', 'three times at most'],
    ],
  });
}

/** Offered where there is something to send again. */
function keepField({ listener, unconfirmed, typed: { values } }: Form): Content {
  if (unconfirmed === 0) return '';
  const votes = counted(unconfirmed, 'vote');
  const when = listener ? 'With another token or key, those' : 'Those';
  return checkbox({
    name: 'keepUnconfirmed',
    label: 'Do not send unconfirmed votes again',
    hint: `${votes} ${unconfirmed === 1 ? 'is' : 'are'} unconfirmed: given up without an answer. ${when} that ended without a word since the last delivery are sent again.`,
    checked: values.keepUnconfirmed === 'yes',
  });
}

function urlField({ listener, typed: { values, errors } }: Form): Content {
  const isSet = listener?.protocol === 'http';
  return [
    textField({
      name: 'url',
      label: 'URL',
      type: 'url',
      hint: 'Each vote is posted there. It must be https:// or http://, and is not followed when it leads elsewhere.',
      required: true,
      maxlength: 2_048,
      autocomplete: 'off',
      placeholder: 'https://example.org/votes',
      value: values.url ?? listener?.url ?? '',
      error: errors.url,
    }),
    html`<p class="soft">${isSet ? 'The secret that votes are signed with stays as it is.' : 'A secret that votes are signed with is made and shown once.'}</p>`,
  ];
}

function votifierFields(form: Form): Content {
  const { protocol, listener, serviceName, typed } = form;
  const { values, errors } = typed;
  const set = listener && listener.protocol !== 'http' ? listener : null;
  return [
    html`<div class="row">
      ${textField({
        name: 'host',
        label: 'Host',
        hint: 'Host name or IP address, without a port.',
        required: true,
        maxlength: 253,
        autocomplete: 'off',
        spellcheck: false,
        placeholder: 'play.example.org',
        value: values.host ?? set?.host ?? '',
        error: errors.host,
      })}
      ${textField({
        name: 'port',
        label: 'Port',
        hint: 'The vote plugin’s, not the game’s.',
        required: true,
        inputmode: 'numeric',
        maxlength: PORT_LENGTH,
        autocomplete: 'off',
        value: values.port ?? String(set?.port ?? 8_192),
        error: errors.port,
      })}
    </div>`,
    secretField(form, listener?.protocol === protocol),
    textField({
      name: 'serviceName',
      label: 'Service name',
      hint: 'What your plugin knows this listing by. Change it only where the plugin or its rewards are set to another name.',
      required: true,
      maxlength: 64,
      autocomplete: 'off',
      value: values.serviceName ?? listener?.serviceName ?? serviceName,
      error: errors.serviceName,
    }),
  ];
}

/** A private key was pasted by mistake, and is not sent back to lie in a page. */
function typedSecret({ secret = '' }: Typed['values']): string {
  return holdsPrivateKey(secret) ? '' : secret;
}

/** A token or key is never shown again. What was typed a moment ago stands there until it is right. */
function secretField({ protocol, typed: { values, errors } }: Form, isSet: boolean): Html {
  const kept = isSet ? ' Leave it empty to keep the one that is set.' : '';
  const common = { name: 'secret', required: !isSet, value: typedSecret(values), error: errors.secret };
  return protocol === 'votifier-v1'
    ? textArea({
        ...common,
        label: 'Public key',
        hint: html`The whole content of the plugin’s <code>rsa/public.key</code>.${kept}`,
        rows: 5,
      })
    : textField({
        ...common,
        label: 'Token',
        hint: html`From the plugin’s <code>config.yml</code>, under <code>tokens</code>.${kept}`,
        autocomplete: 'off',
        spellcheck: false,
      });
}
