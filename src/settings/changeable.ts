import type { SettingName } from '../platform/config.ts';

/**
 * The settings that operators may change while processes run, in groups. Settings that a process needs before it reaches
 * the database, such as addresses of services and the key, are never among them.
 */
export const CHANGEABLE = {
  site: ['SERVICE_NAME', 'CONTACT', 'DEFAULT_LANGUAGE', 'NOTICE', 'FOOTER_LINKS'],
  look: ['ACCENT_COLOUR'],
  votes: ['WEB_VOTES', 'WEB_VOTE_PLAYERS'],
  accounts: ['SIGN_UPS_PER_NETWORK', 'SIGN_UPS_PER_MAIL_DOMAIN', 'SERVERS_PER_ACCOUNT'],
  retention: ['KEEP_PLAYER_NAMES_MONTHS', 'KEEP_ADDRESSES_MONTHS'],
} as const satisfies Record<string, readonly SettingName[]>;

export type SettingGroup = keyof typeof CHANGEABLE;
export type ChangeableName = (typeof CHANGEABLE)[SettingGroup][number];

export const CHANGEABLE_NAMES: readonly ChangeableName[] = Object.values(CHANGEABLE).flat();

/** Whether operators may change a setting while processes run. */
export function isChangeable(name: string): name is ChangeableName {
  return (CHANGEABLE_NAMES as readonly string[]).includes(name);
}

/** The texts of the changeable settings; other names, which a later version may have stored, are left out. */
export function changeableTexts(texts: Record<string, string>): Partial<Record<ChangeableName, string>> {
  return Object.fromEntries(Object.entries(texts).filter(([name]) => isChangeable(name)));
}
