import type { Language } from '../../src/language/language.ts';

/**
 * The languages that must have every text: an English text on their pages is an error. Each with the common English
 * words that are words of that language too.
 */
export const COMPLETE: Partial<Record<Language, string[]>> = { de: [] };
