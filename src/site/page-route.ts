/** Pages for people are not part of the API's description. */
export const PAGE = { schema: { hide: true } } as const;
