import { DEFAULT_TEMPLATE, LONGEST_TEMPLATE, PLACEHOLDERS } from '../../events/discord/vote-template.ts';
import { EVENT_KIND_NAMES, EVENT_KINDS, type EventKind } from '../../events/kinds.ts';
import { MOST_SUBSCRIPTIONS, type SubscriptionType } from '../../events/subscription.ts';
import { LONGEST_NAME } from '../../events/subscription-settings.ts';
import type { SubscriptionView } from '../../events/subscriptions.ts';
import { t } from '../../language/t.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { card, checkbox } from '../shared/parts.ts';
import type { EventsShowing } from './event-showing.ts';
import { newIdField } from './hidden-ids.ts';

/** Votes can be many, so a new channel begins with what a community wants to read. */
const FIRST_KINDS: Record<SubscriptionType, readonly EventKind[]> = {
  discord: ['goal.reached', 'review.published', 'rank.changed', 'milestone'],
  http: [],
};

/** A form for each type of destination, closed until it is opened or refused. */
export function addDestinationCard(path: string, hasRoom: boolean, { form, typed }: EventsShowing): Html {
  const full = t('A server has at most {most} destinations. Remove one to add another.', {
    most: MOST_SUBSCRIPTIONS,
  });
  const add = (type: SubscriptionType, title: string) =>
    html`<details ${form === type ? 'open' : ''}><summary>${title}</summary>
      <div class="spaced">${addForm(path, type, form === type && typed ? typed : UNTOUCHED)}</div></details>`;
  return card({
    id: 'add',
    title: t('Add a destination'),
    body: hasRoom
      ? html`${add('discord', t('A Discord channel'))}${add('http', t('A program or website (HTTPS)'))}`
      : html`<p>${full}</p>`,
  });
}

function addForm(path: string, type: SubscriptionType, typed: Typed): Html {
  return html`<form method="post" action="${path}" class="stack">
    ${newIdField()}<input type="hidden" name="type" value="${type}" />
    ${nameField(type, typed, '')}
    ${type === 'http' ? urlField(type, typed) : webhookField(type, typed, t('Address of the webhook'), true)}
    ${kindBoxesOf(type, typed, FIRST_KINDS[type])}
    ${type === 'discord' ? templateField(type, typed, '') : ''}
    <button type="submit">${t('Add destination')}</button>
  </form>`;
}

/** Changes a subscription. The address of a webhook is not shown; left empty, it stays. */
export function subscriptionForm(path: string, subscription: SubscriptionView, typed: Typed): Html {
  const { type, name, kinds, revision, template = '', url = '' } = subscription;
  const address =
    type === 'http'
      ? urlField('own', typed, url)
      : webhookField('own', typed, t('Address of another webhook'), false);
  return card({
    id: 'settings',
    title: t('Settings'),
    body: html`<form method="post" action="${path}" class="stack">
        <input type="hidden" name="revision" value="${revision}" />
        ${nameField('own', typed, name)}${address}
        ${kindBoxesOf('own', typed, kinds)}
        ${type === 'discord' ? templateField('own', typed, template) : ''}
        <button type="submit">${t('Save')}</button>
      </form>`,
  });
}

function nameField(prefix: string, typed: Typed, value: string): Html {
  return fieldsOf(typed).text('name', {
    id: `${prefix}-name`,
    label: t('Name'),
    hint: t('To tell destinations apart. Players do not see it.'),
    required: true,
    maxlength: 2 * LONGEST_NAME,
    value,
  });
}

function urlField(prefix: string, typed: Typed, value = ''): Html {
  return fieldsOf(typed).text('url', {
    id: `${prefix}-url`,
    label: t('URL'),
    type: 'url',
    required: true,
    spellcheck: false,
    placeholder: 'https://example.org/events',
    hint: t(
      'We post each event there as signed JSON. First it must repeat a challenge, as an HTTP vote listener does.',
    ),
    value,
  });
}

/** Also of the live status. */
export function webhookField(prefix: string, typed: Typed, label: string, required: boolean): Html {
  return fieldsOf(typed).secret('webhook', {
    id: `${prefix}-webhook`,
    label,
    required,
    maxlength: 300,
    spellcheck: false,
    placeholder: 'https://discord.com/api/webhooks/…',
    hint: t(
      'In Discord: Edit channel, Integrations, Webhooks, New webhook, Copy webhook URL. For a post of a forum channel, or a thread, add ?thread_id= and its id. It is stored encrypted and not shown again.',
    ),
  });
}

function kindBoxesOf(prefix: string, { values, errors }: Typed, on: readonly EventKind[]): Html {
  const wasSent = 'name' in values;
  const isOn = (kind: EventKind) => (wasSent ? values[`kind-${kind}`] === 'yes' : on.includes(kind));
  // The summary of errors links to the id, which only the sent form of a page has.
  const error: Content = errors.kinds ? html`<p class="error">${errors.kinds}</p>` : '';
  return html`<fieldset ${error ? html`id="kinds"` : ''} class="stack"><legend>${t('Send')}</legend>${error}
    ${EVENT_KIND_NAMES.map((kind) =>
      checkbox({
        name: `kind-${kind}`,
        id: `${prefix}-kind-${kind.replace('.', '-')}`,
        label: t(EVENT_KINDS[kind].title),
        hint: t(EVENT_KINDS[kind].hint),
        checked: isOn(kind),
      }),
    )}
  </fieldset>`;
}

function templateField(prefix: string, typed: Typed, value: string): Html {
  const hint = t(
    'Votes of some seconds share one message. You can write {placeholders}. Without a text of yours: <code>{text}</code> Lines with the goal are left out while there is none. It mentions nobody.',
    {
      placeholders: html`<code>${PLACEHOLDERS.map((name) => `{${name}}`).join(' ')}</code>`,
      text: DEFAULT_TEMPLATE,
    },
  );
  return fieldsOf(typed).area('template', {
    id: `${prefix}-template`,
    label: t('Text for votes'),
    hint,
    rows: 3,
    maxlength: 2 * LONGEST_TEMPLATE,
    value,
  });
}
