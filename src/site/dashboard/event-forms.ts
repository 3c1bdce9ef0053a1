import { DEFAULT_TEMPLATE, LONGEST_TEMPLATE } from '../../events/discord/vote-template.ts';
import { EVENT_KIND_NAMES, EVENT_KINDS, type EventKind } from '../../events/kinds.ts';
import { MOST_SUBSCRIPTIONS, type Subscription } from '../../events/subscription.ts';
import { LONGEST_NAME } from '../../events/subscription-settings.ts';
import { t } from '../../language/t.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { card, checkbox } from '../shared/parts.ts';
import type { EventsShowing } from './event-pages.ts';
import { newIdField } from './hidden-ids.ts';

/** A form for each type of destination, closed until it is opened or refused. */
export function addCards(path: string, hasRoom: boolean, { form, typed }: EventsShowing): Html {
  const full = t('A server has at most {most} subscriptions. Remove one to add another.', {
    most: MOST_SUBSCRIPTIONS,
  });
  const add = (type: 'http' | 'discord', title: string) =>
    html`<details class="card-details" ${form === type ? 'open' : ''}><summary>${title}</summary>
      ${addForm(path, type, form === type && typed ? typed : UNTOUCHED)}</details>`;
  return card({
    title: t('Add a destination'),
    body: hasRoom
      ? html`${add('discord', t('A Discord channel'))}${add('http', t('A program or website (HTTPS)'))}`
      : html`<p>${full}</p>`,
  });
}

function addForm(path: string, type: 'http' | 'discord', typed: Typed): Html {
  return html`<form method="post" action="${path}/add-${type}" class="stack">
    ${newIdField()}${nameField(type, typed, type === 'http' ? '' : 'Discord')}${addressField(type, typed, true)}
    ${kindBoxesOf(type, typed, type === 'http' ? [] : ['goal.reached', 'listener.down', 'listener.back', 'milestone'])}
    ${type === 'discord' ? templateField(type, typed, '') : ''}
    <button type="submit">${t('Add')}</button>
  </form>`;
}

/** Changes a subscription. An address that is left empty stays. */
export function subscriptionForm(path: string, subscription: Subscription, typed: Typed): Html {
  const { type, name, kinds, template = '', revision } = subscription;
  return card({
    title: t('Settings'),
    body: html`<form method="post" action="${path}" class="stack">
        <input type="hidden" name="revision" value="${String(revision)}" />
        ${nameField('one', typed, name)}${addressField(type, typed, false, subscription.url)}
        ${kindBoxesOf('one', typed, kinds)}
        ${type === 'discord' ? templateField('one', typed, template) : ''}
        <button type="submit">${t('Save')}</button>
      </form>`,
  });
}

function nameField(id: string, typed: Typed, value: string): Html {
  return fieldsOf(typed).text('name', {
    id: `${id}-name`,
    label: t('Name'),
    hint: t('To tell destinations apart; nobody else sees it.'),
    required: true,
    maxlength: 2 * LONGEST_NAME,
    value,
  });
}

function addressField(type: 'http' | 'discord', typed: Typed, isNew: boolean, url = ''): Html {
  const fields = fieldsOf(typed);
  const common = { id: `${isNew ? type : 'one'}-address`, required: isNew, autocomplete: 'off', spellcheck: false };
  if (type === 'http')
    return fields.text('address', {
      ...common,
      label: t('URL'),
      type: 'url',
      value: url,
      placeholder: 'https://example.org/events',
      hint: t('It gets a POST with JSON for each event, and must first repeat a challenge, as a vote listener does.'),
    });
  return fields.secret('address', {
    ...common,
    label: isNew ? t('Address of the webhook') : t('Address of another webhook'),
    maxlength: 300,
    placeholder: 'https://discord.com/api/webhooks/…',
    hint: t(
      'In Discord: Edit channel, Integrations, Webhooks, New webhook, Copy webhook URL. For a post of a forum channel, or a thread, add ?thread_id= and its id. It is stored encrypted and not shown again.',
    ),
  });
}

function kindBoxesOf(prefix: string, { values, errors }: Typed, on: readonly EventKind[]): Html {
  const wasSent = 'name' in values;
  const isOn = (kind: EventKind) => (wasSent ? values[`kind-${kind}`] === 'yes' : on.includes(kind));
  const error: Content = errors.kinds ? html`<p class="error" id="${prefix}-kinds-error">${errors.kinds}</p>` : '';
  return html`<fieldset class="stack" id="kinds"><legend>${t('Send')}</legend>${error}
    ${EVENT_KIND_NAMES.map((kind) =>
      checkbox({
        name: `kind-${kind}`,
        id: `${prefix}-kind-${kind}`,
        label: t(EVENT_KINDS[kind].title),
        hint: t(EVENT_KINDS[kind].hint),
        checked: isOn(kind),
      }),
    )}
  </fieldset>`;
}

function templateField(prefix: string, typed: Typed, value: string): Html {
  const hint = t(
    'Of votes, which share one message. Without a text: the one shown. You can use {placeholders}; a line with the goal is left out without a goal.',
    { placeholders: '{player} {players} {votes} {month} {server} {url} {goal}' },
  );
  return fieldsOf(typed).area('template', {
    id: `${prefix}-template`,
    label: t('Text for votes'),
    hint: html`${hint} <code>${DEFAULT_TEMPLATE}</code>`,
    rows: 3,
    maxlength: 2 * LONGEST_TEMPLATE,
    value,
  });
}
