import { hasOperator, makeSetupLink } from '../accounts/setup.ts';
import { bindCollections } from '../database/collections.ts';
import { systemClock } from '../platform/clock.ts';
import type { ConnectedConfig } from '../platform/config.ts';
import { inDataDir } from '../platform/environment.ts';
import { createLogger } from '../platform/log.ts';
import { openMongo } from '../platform/mongo.ts';

/**
 * What `npm start` prints if the site has no operator; null if it has one, or if MongoDB fails. A link is only printed
 * on a terminal: a file or a log collector would store it.
 */
export async function howToBegin(
  config: ConnectedConfig,
  { isTerminal }: { isTerminal: boolean },
): Promise<string | null> {
  const command = `${inDataDir(config)}npm run -s tallyport -- setup-link`;
  try {
    const mongo = await openMongo(config.MONGODB_URI, createLogger({ LOG_LEVEL: 'error' }, 'all-in-one'));
    try {
      const deps = { ...bindCollections(mongo), clock: systemClock(config.CLOCK_OFFSET_MS), config };
      if (await hasOperator(deps)) return null;
      if (!isTerminal)
        return `This site has no operator yet. To begin, run ${command} and open the link that it prints.`;
      return `This site has no operator yet. Open this link to make one; it works once, within an hour:
  ${await makeSetupLink(deps)}
Later, ${command} prints another one.`;
    } finally {
      await mongo.close();
    }
  } catch {
    return null;
  }
}
