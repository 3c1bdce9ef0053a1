/**
 * Calls `onGone` when the process that started this one as its child, with an IPC channel, is gone, however
 * it ended. Does nothing in a process that was started by hand. It does not keep the process alive.
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
