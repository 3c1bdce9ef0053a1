import type { ListenerView } from '../../delivery/change-listener.ts';
import { holdsPrivateKey } from '../../delivery/credentials.ts';
import { defineMessage, t } from '../../language/t.ts';
import { MAX_SENDINGS } from '../../listeners/delivery-limits.ts';
import type { Protocol } from '../../listeners/listener.ts';
import type { Typed } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { counted } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { checkbox, PORT_LENGTH } from '../shared/parts.ts';
import { protocolChoices } from '../shared/protocol-choices.ts';
import { rewardsField } from './rewards-card.ts';

type Form = {
  path: string;
  protocol: Protocol;
  listener: ListenerView | null;
  typed: Typed;
  /** The server's unconfirmed votes, including those sent to a listener that was removed. */
  unconfirmed: number;
  serviceName: string;
  /** Whether a plugin can claim votes, so that the owner must choose how players are rewarded. */
  hasClaimKeys: boolean;
};

export function listenerForm(form: Form): Html {
  const { path, protocol, listener, hasClaimKeys } = form;
  const { values, errors } = form.typed;
  // If plugins can also claim the votes of a new listener: no option is preselected.
  const rewards = values.rewards ?? (hasClaimKeys ? undefined : 'push');
  return html`<nav class="choices" aria-label="${t('Protocol')}">
      ${protocolChoices().map(
        ({ protocol: value, name, about }) =>
          html`<a href="${path}?protocol=${value}#settings" ${value === protocol ? html`aria-current="true"` : ''}
            ><strong>${name}</strong><span class="small soft">${about}</span></a
          >`,
      )}
    </nav>
    <form method="post" action="${path}" class="stack">
      <input type="hidden" name="protocol" value="${protocol}" />
      ${protocol === 'http' ? urlField(form) : protocol === 'fetch' ? fetchFields(form) : votifierFields(form)}
      ${listener ? '' : rewardsField(rewards, errors.rewards)} ${maxSendingsField(form)} ${keepField(form)}
      ${isTestedWhenSaved(form) && html`<p class="small soft">${t(TESTED_WHEN_SAVED)}</p>`}
      <div class="actions">
        <button type="submit">${listener ? t('Save settings') : t('Save vote listener')}</button>
        ${listener ? html`<a class="button quiet" href="${path}">${t('Cancel')}</a>` : ''}
      </div>
    </form>`;
}

const TESTED_WHEN_SAVED = defineMessage('Saving also sends a test vote and shows each step.');

/** Not before the owner can have set up the other side: a website needs the new secret, and a relay must be started. */
function isTestedWhenSaved({ protocol, listener }: Form): boolean {
  return protocol === 'http' ? listener?.protocol === 'http' : protocol !== 'fetch';
}

/** If a vote is sent several times, its player may be rewarded twice; if it is sent once, it may be lost. */
function maxSendingsField({ protocol, listener, typed }: Form): Html {
  const twice = t('The vote may have arrived anyway. Most plugins then reward the player again.');
  const once = t('With “once”, it is not sent again after a server error (HTTP 5xx or 408) either.');
  return fieldsOf(typed).select('maxSendings', {
    label: t('When no answer comes, send a vote'),
    hint: protocol === 'http' ? `${twice} ${once}` : twice,
    value: String(listener?.maxSendings ?? MAX_SENDINGS),
    options: [
      ['1', t('once')],
      ['2', t('up to twice')],
      ['3', t('up to three times')],
    ],
  });
}

function keepField({ listener, unconfirmed, typed: { values } }: Form): Content {
  if (unconfirmed === 0) return '';
  const votes = counted(unconfirmed, 'vote');
  const when = listener ? t('If you change the token or key, votes') : t('Votes');
  return checkbox({
    name: 'keepUnconfirmed',
    label: t('Do not send unconfirmed votes again'),
    hint: t(
      'The listener never answered {votes}. {when} that were never answered since the last delivery are sent again.',
      { votes, when },
    ),
    checked: values.keepUnconfirmed === 'yes',
  });
}

function urlField({ listener, typed }: Form): Content {
  const isSet = listener?.protocol === 'http';
  return [
    fieldsOf(typed).text('url', {
      label: 'URL',
      type: 'url',
      hint: t(
        'We send each vote to this URL as a POST request. Use https:// or http://. Redirects are not followed.',
      ),
      required: true,
      maxlength: 2_048,
      placeholder: 'https://example.org/votes',
      value: listener?.url ?? '',
    }),
    html`<p class="soft">
      ${isSet ? t('The signing secret does not change.') : t('We create a signing secret and show it once.')}
    </p>`,
  ];
}

function votifierFields(form: Form): Content {
  const { protocol, listener, typed } = form;
  const fields = fieldsOf(typed);
  const set = listener && listener.protocol !== 'http' && listener.protocol !== 'fetch' ? listener : null;
  return [
    html`<div class="row">
      ${fields.text('host', {
        label: t('Host'),
        hint: t('Host name or IP address, without a port.'),
        required: true,
        maxlength: 253,
        spellcheck: false,
        placeholder: 'play.example.org',
        value: set?.host ?? '',
      })}
      ${fields.text('port', {
        label: t('Port'),
        hint: t('The port of the vote plugin, not of the game.'),
        required: true,
        inputmode: 'numeric',
        maxlength: PORT_LENGTH,
        value: String(set?.port ?? 8_192),
      })}
    </div>`,
    secretField(form, listener?.protocol === protocol),
    serviceNameField(form),
  ];
}

function fetchFields(form: Form): Content {
  const about = t(
    'Nothing is sent to your server: it needs neither an address nor an open port. The next page has the program and its key.',
  );
  return [html`<p class="soft">${about}</p>`, serviceNameField(form)];
}

function serviceNameField({ listener, serviceName, typed }: Form): Html {
  return fieldsOf(typed).text('serviceName', {
    label: t('Service name'),
    hint: t(
      'The name of this listing in your plugin. Change it only if the plugin or its rewards use another name.',
    ),
    required: true,
    maxlength: 64,
    value: listener?.serviceName ?? serviceName,
  });
}

/** Never contains a stored secret. After an error it has the entered one, unless a private key was pasted by mistake. */
function secretField({ protocol, typed }: Form, isSet: boolean): Html {
  const keepHint = isSet ? ` ${t('Leave empty to keep the current one.')}` : '';
  const { secret = '' } = typed.values;
  const fields = fieldsOf({ ...typed, values: { secret: holdsPrivateKey(secret) ? '' : secret } });
  const required = !isSet;
  return protocol === 'votifier-v1'
    ? fields.area('secret', {
        required,
        label: t('Public key'),
        hint: html`${t('The full content of <code>rsa/public.key</code> in the plugin’s folder.')}${keepHint}`,
        rows: 5,
      })
    : fields.text('secret', {
        required,
        label: t('Token'),
        hint: html`${t('From the plugin’s <code>config.yml</code>, under <code>tokens</code>.')}${keepHint}`,
        spellcheck: false,
      });
}
