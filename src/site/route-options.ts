/** Pages are not part of the OpenAPI document. */
const PAGE = { schema: { hide: true } } as const;

/** Route options of pages: who may use them (see guard-routes.ts). */
export const ANYONE = { ...PAGE, config: { access: 'anyone' } } as const;
export const SIGNED_IN = { ...PAGE, config: { access: 'user' } } as const;
export const OWNER = { ...PAGE, config: { access: 'owner' } } as const;
export const SOLE_OWNER = { ...PAGE, config: { access: 'sole-owner' } } as const;
export const OPERATOR = { ...PAGE, config: { access: 'operator' } } as const;

/**
 * Options of a public page or image that `sendPublicPage` or `sendPublic` sends: cached, compressed, and made in a slot
 * (see send-public-page.ts). Private pages are compressed only by `sendPage`, because of the BREACH attack.
 */
export const CACHED = {
  ...PAGE,
  config: { access: 'anyone', skipsSlotHook: true },
  compress: { threshold: 1_024 },
} as const;
