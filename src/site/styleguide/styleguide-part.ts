import type { Content } from '../shared/html.ts';

/** A part of the style guide with its name. */
export type StyleguidePart = { name: string; body: Content };
