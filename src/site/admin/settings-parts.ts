import type { FastifyRequest } from 'fastify';
import { inEnglish } from '../../language/t.ts';
import type { Config } from '../../platform/config.ts';
import { EarlierProcessesError, refuseEarlierProcesses } from '../../platform/earlier-processes.ts';
import { shownAddress } from '../../platform/masked.ts';
import type { SecretBox } from '../../platform/secrets.ts';
import { DEFAULTS, variableOf } from '../../platform/settings/definitions.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { SettingsChangedError } from '../../settings/change-settings.ts';
import {
  type ChangeableName,
  fieldOf,
  GROUP_NAMES,
  GROUPS,
  isChangeable,
  isSealed,
  PAGES,
  type SettingGroup,
} from '../../settings/changeable.ts';
import { CHANGES_APPLY_SECONDS } from '../../settings/live-settings.ts';
import { openTexts, type StoredSettings } from '../../settings/stored-settings.ts';
import { accentShades, contrast } from '../look/accent.ts';
import type { Typed } from '../shared/form.ts';
import type { RefusedForm } from '../shared/form-route.ts';
import { decimal, time } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import type { Page } from '../shared/layout.ts';
import { checkbox, notice, select, tabs, textArea, textField } from '../shared/parts.ts';
import { adminPage, adminPath } from './admin-frame.ts';

/** `path` is below `/operator/settings`; `groups` have a form there. */
export const SECTIONS = Object.entries(PAGES).map(([path, text]) => ({
  path,
  text,
  groups: GROUP_NAMES.filter((group) => GROUPS[group].page === path && !GROUPS[group].hasOwnForms),
}));

export const SETTINGS_MESSAGES = inEnglish({
  saved: `Saved. Every process uses it within ${CHANGES_APPLY_SECONDS} seconds.`,
  unchanged: 'Nothing was changed.',
  undone: `The last change is undone. Every process uses it within ${CHANGES_APPLY_SECONDS} seconds.`,
});

export type Showing = { group?: SettingGroup; typed?: Typed; preview?: Content };

export type ShowSettings = (request: FastifyRequest, path: string, showing?: Showing) => Promise<Page>;

export function settingsPath(base: string, path = ''): string {
  return adminPath(base, `/settings${path}`);
}

export function settingsFrame(frame: {
  base: string;
  path: string;
  stored: StoredSettings | null;
  warning: Content;
  body: Content;
}): Page {
  const { base, path, stored, warning, body } = frame;
  const entries = SECTIONS.map(({ path, text }) => ({ href: settingsPath(base, path), text }));
  return adminPage({
    base,
    part: '/settings',
    title: 'Settings',
    messages: SETTINGS_MESSAGES,
    body: html`${tabs('Settings', entries, settingsPath(base, path))}${warning}${introduction(base, stored)}${body}`,
  });
}

function introduction(base: string, stored: StoredSettings | null): Html {
  const undo = settingsPath(base, '/undo');
  const last = stored
    ? html`<div class="actions small"><span>Last change: ${time(stored.at)}, by <bdi>${stored.by}</bdi>.</span>
        <a class="button quiet" href="${undo}">Undo the last change…</a></div>`
    : '';
  return html`<div class="settings-intro"><p class="soft small">A change applies within ${CHANGES_APPLY_SECONDS}
    seconds, without a restart. An empty field means the default; a variable of the environment wins.</p>${last}</div>`;
}

/** Empty if none run, or if MongoDB cannot tell. */
export async function earlierWarning({ mongo }: AppDeps): Promise<Content> {
  try {
    await refuseEarlierProcesses(mongo);
    return '';
  } catch (error) {
    if (!(error instanceof EarlierProcessesError)) throw error;
    if (error.code !== 'earlier-processes') return '';
    return notice(
      'attention',
      'Processes of an earlier version run now. They use the values of the environment until they are upgraded.',
    );
  }
}

export function conflict(error: unknown): RefusedForm | undefined {
  if (!(error instanceof SettingsChangedError)) return undefined;
  const names = error.names.map(labelOf).join(', ');
  const sentence = `Somebody else changed this meanwhile: ${names}. Your values are still in the form. If you save again, they replace the other ones; the audit log has both.`;
  return { status: 409, errors: { form: sentence } };
}

export function labelOf(name: string): string {
  return isChangeable(name) ? fieldOf(name).label : name;
}

/** null for an empty field, which means the default. */
export function textOfField(name: ChangeableName, entered: string): string | null {
  const text =
    fieldOf(name).kind === 'lines'
      ? entered
          .split('\n')
          .flatMap((line) => line.trim() || [])
          .join(', ')
      : entered.trim();
  return text === '' ? null : text;
}

type FieldParts = { config: Config; stored: StoredSettings | null; secrets: Pick<SecretBox, 'open'> };

export function settingField(parts: FieldParts, name: ChangeableName, typed: Typed): Html {
  const { label, hint, kind, options } = fieldOf(name);
  if (parts.config.given.has(name)) return fixedValue(parts.config, name);
  if (isSealed(name)) return secretField(parts, name, typed);
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

export function fixedValue(config: Config, name: ChangeableName): Html {
  const value = config[name];
  const isSecret = isSealed(name);
  const text = isSecret ? (shownAddress(String(value)) ?? 'set') : shown(value);
  return html`<div class="field"><b>${fieldOf(name).label}</b>
    <p class="hint">Fixed: the environment gives ${variableOf(name)}.</p>
    ${text ? html`<p dir="auto">${text}</p>` : ''}</div>`;
}

export const removalOf = (name: ChangeableName) => `remove_${name}`;

/** No page contains the stored secret: if the field stays empty, the secret stays. A refused form keeps the entered one. */
function secretField({ stored, secrets }: FieldParts, name: ChangeableName, typed: Typed): Html {
  const { label, hint } = fieldOf(name);
  const sealed = stored?.texts[name];
  const field = textField({
    name,
    label,
    hint: html`${hint} ${sealed === undefined ? '' : html`<b>${stateOfSecret(secrets, name, sealed)}</b>`}`,
    type: 'password',
    // Browsers would fill in the operator's own password despite `off`.
    autocomplete: 'new-password',
    value: typed.values[name] ?? '',
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

function shown(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (!Array.isArray(value)) return String(value);
  return value.map(({ text, href }: { text: string; href: string }) => `${text} ${href}`).join(', ');
}

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
