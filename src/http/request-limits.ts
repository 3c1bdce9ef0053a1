export const BODY_KIB = 16;
export const BODY_LIMIT = BODY_KIB * 1_024;

export const DONE_KIB = 64;
export const DONE_LIMIT = DONE_KIB * 1_024;

export const HEADER_KIB = 16;
export const HEADER_LIMIT = HEADER_KIB * 1_024;

/** The most names of a form or query. The largest form has some 60. */
export const MOST_FIELDS = 200;
