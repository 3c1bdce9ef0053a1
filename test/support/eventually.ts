/**
 * For `vi.waitFor` and `vi.waitUntil`, which give up after a second by themselves: a machine that is busy with other
 * tests needs longer now and then.
 */
export const EVENTUALLY = { timeout: 45_000, interval: 50 };
