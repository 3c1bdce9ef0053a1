import { within } from '../platform/deadline.ts';

/** An optional question is asked after the server's first answer. */
export const OPTIONAL_MS = 1_000;

/** Undefined if it is refused, late or cannot be read. */
export async function optional<T>(question: Promise<T>, ms = OPTIONAL_MS): Promise<T | undefined> {
  try {
    return await within(ms, question);
  } catch {
    return undefined;
  }
}
