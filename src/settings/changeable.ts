import type { SettingName } from '../platform/config.ts';
import { SECRETS } from '../platform/secret-settings.ts';

/**
 * The settings that operators may change while processes run, in groups. A setting that a process needs before it
 * reaches the database, such as the address of a service, must not be among them.
 */
export const CHANGEABLE = {
  site: ['SERVICE_NAME', 'CONTACT', 'DEFAULT_LANGUAGE', 'NOTICE', 'FOOTER_LINKS'],
  look: ['ACCENT_COLOUR'],
  logo: ['LOGO_PICTURE'],
  pages: ['PAGE_CONTACT', 'PAGE_IMPRINT', 'PAGE_PRIVACY', 'PAGE_TERMS'],
  mail: ['SMTP_URL', 'MAIL_FROM'],
  discord: ['DISCORD_CLIENT_ID', 'DISCORD_CLIENT_SECRET'],
  openid: ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_NAME'],
  votes: ['WEB_VOTES', 'WEB_VOTE_PLAYERS', 'STEAM_SIGN_IN'],
  accounts: ['SIGN_UPS_PER_NETWORK', 'SIGN_UPS_PER_MAIL_DOMAIN', 'SERVERS_PER_ACCOUNT'],
  retention: ['KEEP_PLAYER_NAMES_MONTHS', 'KEEP_ADDRESSES_MONTHS'],
} as const satisfies Record<string, readonly SettingName[]>;

export type SettingGroup = keyof typeof CHANGEABLE;
export type ChangeableName = (typeof CHANGEABLE)[SettingGroup][number];

export const CHANGEABLE_NAMES: readonly ChangeableName[] = Object.values(CHANGEABLE).flat();

/** Changing these groups needs re-authentication: control over mails or the sign-in gives access to every account. */
export const GUARDED_GROUPS: ReadonlySet<SettingGroup> = new Set(['mail', 'discord', 'openid']);

export function isChangeable(name: string): name is ChangeableName {
  return (CHANGEABLE_NAMES as readonly string[]).includes(name);
}

/** Whether changing a setting in the admin area needs re-authentication. */
export function isGuarded(name: string): boolean {
  return [...GUARDED_GROUPS].some((group) => (CHANGEABLE[group] as readonly string[]).includes(name));
}

/** Whether the stored text of a setting is sealed with `SECRET_KEY`. */
export function isSealed(name: ChangeableName): boolean {
  return SECRETS.has(name);
}
