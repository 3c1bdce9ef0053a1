/**
 * A program for the tests: opens services as a platform or as a command, tells its parent their addresses, and
 * closes them at SIGTERM. Like a terminal's foreground process it also gets SIGINT, and takes its time.
 */

import { findServices, openServices } from '../../src/embedded/services.ts';
import { loadConfig } from '../../src/platform/config.ts';

const open = process.argv[2] === 'command' ? findServices : openServices;
const said: string[] = [];
process.on('SIGINT', () => undefined);
try {
  const services = await open(loadConfig(), (line) => said.push(line));
  const { MONGODB_URI, REDIS_URL, SECRET_KEY } = services.config;
  process.once('SIGTERM', async () => {
    await services.close();
    process.exit(0);
  });
  process.send?.({ said, MONGODB_URI, REDIS_URL, SECRET_KEY });
} catch (error) {
  process.send?.({ said, fault: String(error) }, () => process.exit(1));
}
