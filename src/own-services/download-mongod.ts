/** A child process. Sends {path} or {error} to its parent. Its only argument is the version. */
const version = process.argv[2] ?? '';
process.on('disconnect', () => process.exit(1));
try {
  // Without development dependencies, as in the Docker image, the package is missing: the parent gets this error.
  const { MongoBinary } = await import('mongodb-memory-server');
  process.send?.({ path: await MongoBinary.getPath({ version, checkMD5: true }) });
} catch (error) {
  const lines = String(error instanceof Error ? error.message : error)
    .trim()
    .split('\n');
  process.send?.({ error: lines.at(-1) });
}
process.disconnect();
