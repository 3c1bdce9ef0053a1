import { once } from 'node:events';

/** In the environment of a child that waits for its variables. */
export const AWAITS_VARIABLES = 'TALLYPORT_AWAITS_VARIABLES';

/**
 * `npm start` starts its children before it knows the addresses of the services, so that their modules load meanwhile;
 * then it sends the rest of their environment. Another process goes on at once.
 */
export async function awaitVariables(): Promise<void> {
  if (!process.connected || process.env[AWAITS_VARIABLES] === undefined) return;
  // `endWithParent` lets the channel keep no process alive; until the message comes, nothing else does.
  process.channel?.ref();
  const [variables] = await once(process, 'message');
  process.channel?.unref();
  Object.assign(process.env, variables);
}
