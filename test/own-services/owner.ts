/**
 * A program for the tests: opens services as a platform or as a command, sends their addresses to its parent, and
 * closes them at SIGTERM. Like a terminal's foreground process it also gets SIGINT, and takes its time.
 */

import { findServices, openServices } from '../../src/own-services/open-services.ts';
import { loadConfig } from '../../src/platform/config.ts';

const open = process.argv[2] === 'command' ? findServices : openServices;
const lines: string[] = [];
process.on('SIGINT', () => undefined);
try {
  const services = await open(loadConfig(), (line) => lines.push(line));
  const { MONGODB_URI, REDIS_URL, SECRET_KEY } = services.config;
  process.once('SIGTERM', async () => {
    await services.close();
    process.exit(0);
  });
  process.send?.({ lines, MONGODB_URI, REDIS_URL, SECRET_KEY });
} catch (error) {
  process.send?.({ lines, error: String(error) }, () => process.exit(1));
}
