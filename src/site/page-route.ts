/** Pages for users are not part of the API's description. */
const PAGE = { schema: { hide: true } } as const;

/** What a page's route says of itself: whom it is for (see access.ts). */
export const ANYONE = { ...PAGE, config: { access: 'anyone' } } as const;
export const SIGNED_IN = { ...PAGE, config: { access: 'user' } } as const;
export const OWNER = { ...PAGE, config: { access: 'owner' } } as const;
export const OPERATOR = { ...PAGE, config: { access: 'operator' } } as const;

/** A page or an image of the listing: for anyone, compressed (see public-page.ts). One user's are not: BREACH. */
export const PUBLIC = { ...ANYONE, compress: { threshold: 1_024 } } as const;
