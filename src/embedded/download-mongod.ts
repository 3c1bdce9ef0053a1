/**
 * A separate program: finds the mongod of mongodb-memory-server, or downloads it, and sends {path} or {error} to its
 * parent. Its only argument is the version.
 */
import { MongoBinary } from 'mongodb-memory-server';

const version = process.argv[2] ?? '';
process.on('disconnect', () => process.exit(1));
try {
  process.send?.({ path: await MongoBinary.getPath({ version, checkMD5: true }) });
} catch (error) {
  const lines = String(error instanceof Error ? error.message : error)
    .trim()
    .split('\n');
  process.send?.({ error: lines.at(-1) });
}
process.disconnect();
