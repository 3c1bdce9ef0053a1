export const LARGEST_UPLOAD_MB = 1;
export const LARGEST_UPLOAD = LARGEST_UPLOAD_MB * 1_024 * 1_024;

/** The largest picture that is decoded, in pixels. */
export const MOST_MILLION_PIXELS = 16;
export const MOST_PIXELS = MOST_MILLION_PIXELS * 1_000_000;
export const LONGEST_SIDE = 8_192;
