import type { FastifyRequest } from 'fastify';
import { inEnglish } from '../../language/t.ts';
import { EarlierProcessesError, refuseEarlierProcesses } from '../../platform/earlier-processes.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { SettingsChangedError } from '../../settings/change-settings.ts';
import { GROUP_NAMES, GROUPS, PAGES, type SettingGroup } from '../../settings/changeable.ts';
import { CHANGES_APPLY_SECONDS } from '../../settings/live-settings.ts';
import type { StoredSettings } from '../../settings/stored-settings.ts';
import type { Typed } from '../shared/form.ts';
import type { RefusedForm } from '../shared/form-route.ts';
import { time } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import type { Framed, Page } from '../shared/layout.ts';
import { notice, tabs } from '../shared/parts.ts';
import { adminFrame, adminPath } from './admin-frame.ts';
import { labelOf } from './setting-fields.ts';

/** The pages of settings: the path below `/operator/settings`, the text of the tab, and the groups with a form there. */
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

/** What a page of settings shows after one of its forms was sent: the group of the form, its values, a preview. */
export type Showing = { group?: SettingGroup; typed?: Typed; preview?: Content };

/** Makes the page of settings at `path`, a path of `SECTIONS`. */
export type ShowSettings = (request: FastifyRequest, path: string, showing?: Showing) => Promise<Page>;

export function settingsPath(base: string, path = ''): string {
  return adminPath(base, `/settings${path}`);
}

/** The frame of the pages of settings. `path` is the path of the current page. */
export function settingsFrame(frame: {
  base: string;
  path: string;
  stored: StoredSettings | null;
  warning: Content;
  body: Content;
}): Framed {
  const { base, path, stored, warning, body } = frame;
  const entries = SECTIONS.map(({ path, text }) => ({ href: settingsPath(base, path), text }));
  return adminFrame({
    base,
    part: '/settings',
    body: html`${tabs('Settings', entries, settingsPath(base, path))}${warning}${introduction(base, stored)}${body}`,
  });
}

function introduction(base: string, stored: StoredSettings | null): Html {
  const undo = settingsPath(base, '/undo');
  const last = stored
    ? html`<div class="actions"><span>Last change: ${time(stored.at)}, by <bdi>${stored.by}</bdi>.</span>
        <a class="button quiet" href="${undo}">Undo the last change…</a></div>`
    : '';
  return html`<div class="spaced"><p class="soft">Every process uses a change within ${CHANGES_APPLY_SECONDS} seconds,
    without a restart. An empty field means the default. A variable of the environment wins, and its setting is fixed
    here. Processes of the version before do not know these settings: while they run, they use the values of the
    environment. The audit log has each change.</p>${last}</div>`;
}

/** A warning while processes of an earlier version run. Empty if none run, or if MongoDB cannot tell. */
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

/** The refusal of a form whose settings somebody else changed after it was shown. */
export function conflict(error: unknown): RefusedForm | undefined {
  if (!(error instanceof SettingsChangedError)) return undefined;
  const names = error.names.map(labelOf).join(', ');
  const sentence = `Somebody else changed this meanwhile: ${names}. Your values are still in the form. If you save again, they replace the other ones; the audit log has both.`;
  return { status: 409, errors: { form: sentence } };
}
