import { once } from 'node:events';

/** In the environment of a child that waits for `sendVariables`. */
export const AWAITS_VARIABLES = 'TALLYPORT_AWAITS_VARIABLES';

/**
 * `npm start` starts its children before it knows the addresses of the services, so that their modules load meanwhile;
 * then it sends the rest of their environment. Another process goes on at once.
 */
export async function awaitVariables(): Promise<void> {
  if (!process.connected || process.env[AWAITS_VARIABLES] === undefined) return;
  const [variables] = await once(process, 'message');
  Object.assign(process.env, variables);
}
