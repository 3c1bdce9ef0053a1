// A web worker that solves a challenge of the vote form. It imports altcha-lib, which is served from the same folder.
import { deriveKey } from './altcha-lib-2.8.0/algorithms/web/pbkdf2.js';
import { solveChallenge } from './altcha-lib-2.8.0/pow.js';

addEventListener('message', async ({ data: challenge }) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker, no window
  self.postMessage(await solveChallenge({ challenge, deriveKey, timeout: 120_000 }));
});
