/** Leaves a route out of the OpenAPI document. */
const PAGE = { schema: { hide: true } } as const;

/** The route options of pages. They say who may use a page (see guard-routes.ts). */
export const ANYONE = { ...PAGE, config: { access: 'anyone' } } as const;
/** A file that pages load: it needs no slot and no session, and an overloaded process answers it. */
export const FILE = {
  ...PAGE,
  config: { access: 'anyone', isFile: true, skipsSlotHook: true },
} as const;
/** A file that a person saves: an overloaded process refuses it, as it does pages. */
export const DOWNLOAD = { ...PAGE, config: { access: 'anyone', skipsSlotHook: true } } as const;
export const SIGNED_IN = { ...PAGE, config: { access: 'user' } } as const;
export const OWNER = { ...PAGE, config: { access: 'owner' } } as const;
export const SOLE_OWNER = { ...PAGE, config: { access: 'sole-owner' } } as const;
export const OPERATOR = { ...PAGE, config: { access: 'operator' } } as const;

/**
 * The route options of a public page or image, which `sendPublicPage` or `sendPublic` sends: it is cached, compressed
 * and made in a slot.
 */
export const CACHED = {
  ...PAGE,
  config: { access: 'anyone', skipsSlotHook: true },
} as const;
