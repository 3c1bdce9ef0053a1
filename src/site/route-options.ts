const PAGE = { schema: { hide: true } } as const;

export const ANYONE = { ...PAGE, config: { access: 'anyone' } } as const;
/** It needs no slot and no session, and an overloaded process answers it. */
export const FILE = { ...PAGE, config: { access: 'anyone', isFile: true, skipsSlotHook: true } } as const;
/** An overloaded process refuses it, as it does pages. */
export const DOWNLOAD = { ...PAGE, config: { access: 'anyone', skipsSlotHook: true } } as const;
/** A form that mailboxes send too, without the origin of this site (RFC 8058). */
export const ONE_CLICK = { ...PAGE, config: { access: 'anyone', isOneClick: true } } as const;
export const SIGNED_IN = { ...PAGE, config: { access: 'user' } } as const;
export const OWNER = { ...PAGE, config: { access: 'owner' } } as const;
export const SOLE_OWNER = { ...PAGE, config: { access: 'sole-owner' } } as const;
export const OPERATOR = { ...PAGE, config: { access: 'operator' } } as const;

export const CACHED = { ...PAGE, config: { access: 'anyone', skipsSlotHook: true } } as const;
