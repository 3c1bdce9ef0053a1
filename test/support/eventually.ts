/**
 * Options for `vi.waitFor` and `vi.waitUntil`. Their default timeout is a second, which is sometimes too short on a
 * machine that is busy with other tests.
 */
export const EVENTUALLY = { timeout: 45_000, interval: 50 };
