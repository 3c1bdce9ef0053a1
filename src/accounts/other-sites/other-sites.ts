import type { Config } from '../../platform/config.ts';
import type { Credential } from '../user.ts';
import { type OpenIdClient, openIdAccountId, openIdClientOf } from './openid-connect.ts';

/** `id` is the provider's id in the sign-in library and in credentials. */
export type OtherSite = { id: 'discord' | 'oidc'; name: string };

/** Whether the operator has configured them or not. */
export const OTHER_SITE_IDS: readonly OtherSite['id'][] = ['oidc', 'discord'];

type Settings = Pick<Config, 'DISCORD_CLIENT_ID'> & Parameters<typeof openIdClientOf>[0];

/** In the order of their buttons. */
export function otherSites(config: Settings): OtherSite[] {
  const openId = openIdClientOf(config);
  return [
    ...(openId ? [{ id: 'oidc' as const, name: openId.name }] : []),
    ...(config.DISCORD_CLIENT_ID === undefined ? [] : [{ id: 'discord' as const, name: 'Discord' }]),
  ];
}

export function linkedSites(config: Settings, credentials: Pick<Credential, 'providerId' | 'accountId'>[]) {
  const openId = openIdClientOf(config);
  const isUsable = ({ providerId, accountId }: Pick<Credential, 'providerId' | 'accountId'>) =>
    providerId !== 'oidc' || (openId !== null && isOf(openId, accountId));
  const linked = new Set(credentials.filter(isUsable).map(({ providerId }) => providerId));
  return new Set(otherSites(config).flatMap(({ id }) => (linked.has(id) ? [id] : [])));
}

/** Whether an account is at this provider, and not at one that the operator configured earlier. */
function isOf({ issuer }: OpenIdClient, accountId: string): boolean {
  return accountId.startsWith(openIdAccountId(issuer, ''));
}
