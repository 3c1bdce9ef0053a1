import {
  type ChangeableName,
  DEFINED,
  DEFINITIONS,
  SECRETS,
  type SettingGroup,
} from '../platform/settings/definitions.ts';
import type { Field } from '../platform/settings/setting.ts';

export type { ChangeableName, SettingGroup };

/** The path below `/operator/settings`, and the text of the tab. */
export const PAGES = {
  '': 'Site',
  '/mail': 'Mail',
  '/discord': 'Discord',
  '/openid': 'OpenID Connect',
  '/limits': 'Limits and retention',
};

type Group = {
  title: string;
  page: keyof typeof PAGES;
  /** Re-authentication is needed: control over mails or the sign-in gives access to every account. */
  isGuarded?: true;
  /** Such as an upload. */
  hasOwnForms?: true;
};

/** The groups have the order of the pages. */
export const GROUPS: Record<SettingGroup, Group> = {
  site: { title: 'Site', page: '' },
  look: { title: 'Colour', page: '' },
  logo: { title: 'Logo', page: '', hasOwnForms: true },
  pages: { title: 'Your own pages', page: '', hasOwnForms: true },
  mail: { title: 'Mail server', page: '/mail', isGuarded: true },
  discord: { title: 'Sign-in with Discord', page: '/discord', isGuarded: true },
  openid: { title: 'Sign-in with OpenID Connect', page: '/openid', isGuarded: true },
  votes: { title: 'Votes on pages', page: '/limits' },
  api: { title: 'API', page: '/limits' },
  accounts: { title: 'Accounts', page: '/limits' },
  retention: { title: 'How long data is kept', page: '/limits' },
};

export const GROUP_NAMES = Object.keys(GROUPS) as SettingGroup[];

export const CHANGEABLE_NAMES = DEFINED.flatMap(([name, { field }]) =>
  field ? [name as ChangeableName] : [],
);

export function fieldOf(name: ChangeableName): Field<SettingGroup> {
  return DEFINITIONS[name].field as Field<SettingGroup>;
}

/** The settings have the order of the form. */
export function settingsOf(group: SettingGroup): ChangeableName[] {
  return CHANGEABLE_NAMES.filter((name) => fieldOf(name).group === group);
}

export function isChangeable(name: string): name is ChangeableName {
  return (CHANGEABLE_NAMES as readonly string[]).includes(name);
}

/** Whether a change needs re-authentication. */
export function isGuarded(name: string): boolean {
  return isChangeable(name) && GROUPS[fieldOf(name).group].isGuarded === true;
}

/** Whether the value is sealed with `SECRET_KEY`. */
export function isSealed(name: ChangeableName): boolean {
  return SECRETS.has(name);
}
