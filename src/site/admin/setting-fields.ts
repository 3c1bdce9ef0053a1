import { LANGUAGE_NAMES, LANGUAGES } from '../../language/language.ts';
import { type Config, DEFAULTS, variableOf } from '../../platform/config.ts';
import { shownAddress } from '../../platform/masked.ts';
import type { SecretBox } from '../../platform/secrets.ts';
import type { ChangeableName, SettingGroup } from '../../settings/changeable.ts';
import { openTexts, type StoredSettings } from '../../settings/stored-settings.ts';
import { accentShades, contrast } from '../look/accent.ts';
import type { Typed } from '../shared/form.ts';
import { decimal } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';
import { checkbox, select, textArea, textField } from '../shared/parts.ts';

export const GROUP_TITLES: Record<SettingGroup, string> = {
  site: 'Site',
  look: 'Colour',
  logo: 'Logo',
  pages: 'Your own pages',
  mail: 'Mail server',
  discord: 'Sign-in with Discord',
  openid: 'Sign-in with OpenID Connect',
  votes: 'Votes on pages',
  accounts: 'Accounts',
  retention: 'How long data is kept',
};

type Field = {
  label: string;
  hint: string;
  kind?: 'number' | 'lines' | 'secret' | 'page' | 'picture';
  /** The choices of a select field, each with its value and text. */
  options?: [value: string, text: string][];
};

const ON_OFF: Field['options'] = [
  ['on', 'On'],
  ['off', 'Off'],
];

const FIELDS: Record<ChangeableName, Field> = {
  SERVICE_NAME: { label: 'Name of the listing', hint: 'In the head of every page, in mails and messages.' },
  CONTACT: { label: 'Contact', hint: 'An e-mail address or a link, shown where users need you.' },
  DEFAULT_LANGUAGE: {
    label: 'Language',
    hint: 'For visitors whose browser prefers no language that the pages have.',
    options: LANGUAGES.map((language) => [language, LANGUAGE_NAMES[language]]),
  },
  NOTICE: { label: 'Notice', hint: 'One line below the head of every page.' },
  FOOTER_LINKS: {
    label: 'Links in the footer',
    hint: 'One on each line: a text and an address, such as “Forum https://forum.example.org”.',
    kind: 'lines',
  },
  ACCENT_COLOUR: {
    label: 'Colour of links and buttons',
    hint: 'Such as #0f6168. It is made darker or lighter until it can be read. “Vote” keeps its own colour.',
  },
  LOGO_PICTURE: {
    label: 'Logo',
    hint: 'In the head of every page and as the icon of the browser tab.',
    kind: 'picture',
  },
  PAGE_CONTACT: {
    label: 'Contact',
    hint: 'How users reach you. Without this page, the contact above is linked.',
    kind: 'page',
  },
  PAGE_IMPRINT: {
    label: 'Imprint',
    hint: 'Who runs this listing.',
    kind: 'page',
  },
  PAGE_PRIVACY: {
    label: 'Privacy',
    hint: 'Replaces the page that follows from the settings.',
    kind: 'page',
  },
  PAGE_TERMS: {
    label: 'Terms',
    hint: 'The rules of this listing.',
    kind: 'page',
  },
  SMTP_URL: {
    label: 'Address of the mail server',
    hint: 'Such as smtps://user:password@mail.example.org:465, or smtp://…:587?requireTLS=true. A worker checks at each mail that the server has a public address.',
    kind: 'secret',
  },
  MAIL_FROM: { label: 'Sender', hint: 'Such as Tallyport <votes@example.org>.' },
  DISCORD_CLIENT_ID: { label: 'Client ID', hint: 'Of your application at Discord.' },
  DISCORD_CLIENT_SECRET: { label: 'Client secret', hint: 'Of the same application.', kind: 'secret' },
  OIDC_ISSUER: { label: 'Issuer', hint: 'The https:// address of the provider.' },
  OIDC_CLIENT_ID: { label: 'Client ID', hint: 'That the provider gave to this listing.' },
  OIDC_CLIENT_SECRET: {
    label: 'Client secret',
    hint: 'That the provider gave to this listing.',
    kind: 'secret',
  },
  OIDC_NAME: { label: 'Name on the button', hint: 'By default the host of the provider.' },
  STEAM_SIGN_IN: {
    label: 'Proof of SteamIDs',
    hint: 'Whether players of Steam’s games can prove their SteamID when they vote.',
    options: ON_OFF,
  },
  WEB_VOTES: {
    label: 'Votes on the pages',
    hint: 'If they are off, players vote only through plugins and websites with the API.',
    options: ON_OFF,
  },
  WEB_VOTE_PLAYERS: {
    label: 'New players of one network',
    hint: 'How many may vote for a server in a day, 1 to 300.',
    kind: 'number',
  },
  SIGN_UPS_PER_NETWORK: {
    label: 'New accounts of one network',
    hint: 'In 24 hours, from one IPv4 /24 or IPv6 /48.',
    kind: 'number',
  },
  SIGN_UPS_PER_MAIL_DOMAIN: {
    label: 'New accounts of one mail domain',
    hint: 'In 24 hours; domains of public providers have 50 times as many.',
    kind: 'number',
  },
  SERVERS_PER_ACCOUNT: {
    label: 'Servers of one account',
    hint: 'The most that a user may list.',
    kind: 'number',
  },
  KEEP_PLAYER_NAMES_MONTHS: {
    label: 'Months for names of players',
    hint: 'After them, names are removed from votes; 0: never, else 3 or more.',
    kind: 'number',
  },
  KEEP_ADDRESSES_MONTHS: {
    label: 'Months for e-mail addresses',
    hint: 'After them, addresses are removed from the audit log and the like; 0: never.',
    kind: 'number',
  },
};

/** The label of a setting; `name` itself if there is no such setting. */
export function labelOf(name: string): string {
  return (FIELDS as Record<string, Field>)[name]?.label ?? name;
}

/** Converts the entered text of a field to the text to store; null for an empty field, which means the default. */
export function textOfField(name: ChangeableName, entered: string): string | null {
  const text =
    FIELDS[name].kind === 'lines'
      ? entered
          .split('\n')
          .flatMap((line) => line.trim() || [])
          .join(', ')
      : entered.trim();
  return text === '' ? null : text;
}

/** The data from which the fields of settings are made. */
export type FieldParts = { config: Config; stored: StoredSettings | null; secrets: Pick<SecretBox, 'open'> };

/** The field of a setting. If an environment variable gives the value, the value is shown without a field. */
export function settingField(parts: FieldParts, name: ChangeableName, typed: Typed): Html {
  const { label, hint, kind, options } = FIELDS[name];
  if (parts.config.given.has(name)) return fixedValue(parts.config, name);
  if (kind === 'secret') return secretField(parts, name, typed);
  const text = parts.stored?.texts[name] ?? '';
  const byDefault = shown(DEFAULTS[name]);
  const field = {
    name,
    label,
    hint: byDefault ? `${hint} Default: ${byDefault}.` : hint,
    value: typed.values[name] ?? (kind === 'lines' ? text.split(/,\s+/).join('\n') : text),
    error: typed.errors[name],
  };
  if (options) return select({ ...field, options: [['', `Default (${byDefault})`], ...options] });
  if (kind === 'lines') return textArea({ ...field, rows: 4 });
  return textField({ ...field, spellcheck: false, ...(kind === 'number' ? { inputmode: 'numeric' } : {}) });
}

/** The value of a setting that an environment variable gives, so that it cannot be changed here. */
export function fixedValue(config: Config, name: ChangeableName): Html {
  const value = config[name];
  const isSecret = FIELDS[name].kind === 'secret';
  const text = isSecret ? (shownAddress(String(value)) ?? 'set') : shown(value);
  return html`<div class="field"><b>${FIELDS[name].label}</b>
    <p class="hint">Fixed: the environment gives ${variableOf(name)}.</p>
    ${text ? html`<p dir="auto">${text}</p>` : ''}</div>`;
}

/** The name of the check box that removes a stored secret. */
export const removalOf = (name: ChangeableName) => `remove_${name}`;

/** The field of a secret. No page contains the secret: the field is empty, and if it stays empty, the secret stays. */
function secretField({ stored, secrets }: FieldParts, name: ChangeableName, typed: Typed): Html {
  const { label, hint } = FIELDS[name];
  const sealed = stored?.texts[name];
  const field = textField({
    name,
    label,
    hint: html`${hint} ${sealed === undefined ? '' : html`<b>${stateOfSecret(secrets, name, sealed)}</b>`}`,
    type: 'password',
    autocomplete: 'off',
    value: '',
    spellcheck: false,
    error: typed.errors[name],
  });
  if (sealed === undefined) return field;
  return html`${field}${checkbox({ name: removalOf(name), label: `Remove the stored value: ${label.toLowerCase()}` })}`;
}

function stateOfSecret(secrets: Pick<SecretBox, 'open'>, name: ChangeableName, sealed: string): string {
  const { texts, unreadable } = openTexts(secrets, { [name]: sealed });
  if (unreadable[name] !== undefined) return 'Stored, but sealed with another SECRET_KEY: enter it again.';
  const address = shownAddress(texts[name] ?? '');
  return `Stored${address ? `: ${address}` : ''}. An empty field keeps it.`;
}

/** A value of the configuration as text. */
function shown(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (!Array.isArray(value)) return String(value);
  return value.map(({ text, href }: { text: string; href: string }) => `${text} ${href}`).join(', ');
}

/** Shows a colour as it looks on light and dark pages, with its contrasts; an error if the text is not a colour. */
export function colourPreview(colour: string): Html {
  if (!/^#[0-9a-f]{6}$/i.test(colour.trim()))
    return html`<p class="error">Must be a colour such as #0f6168.</p>`;
  const shades = accentShades(colour.trim().toLowerCase());
  const swatch = (scheme: 'light' | 'dark', ground: string) => {
    const { accent, on } = shades[scheme];
    const words = `Contrast as text ${decimal(contrast(accent, ground))}, of a button ${decimal(contrast(accent, on))}`;
    return html`<figure><svg viewBox="0 0 240 64" width="240" height="64" role="img" aria-label="${scheme}: ${words}">
        <rect width="240" height="64" rx="8" fill="${ground}"/>
        <text x="16" y="38" font-size="15" fill="${accent}" text-decoration="underline">A link</text>
        <rect x="110" y="14" width="112" height="36" rx="6" fill="${accent}"/>
        <text x="166" y="37" font-size="14" font-weight="600" text-anchor="middle" fill="${on}">A button</text>
      </svg><figcaption
        class="small soft">${scheme === 'light' ? 'Light' : 'Dark'}: ${accent}. ${words}.</figcaption></figure>`;
  };
  return html`<div class="actions">${swatch('light', '#ffffff')}${swatch('dark', '#132023')}</div>`;
}
