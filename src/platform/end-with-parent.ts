/**
 * Does nothing if no IPC channel connects the two, as in a process of a shell. The channel does not keep this process
 * alive.
 */
export function endWithParent(onGone: () => void): void {
  if (process.connected === undefined) return;
  if (!process.connected) {
    queueMicrotask(onGone);
    return;
  }
  process.once('disconnect', onGone);
  process.channel?.unref();
}
