/**
 * Calls `onGone` when the parent process exits for any reason; an IPC channel connects the two. Does nothing in a
 * process that was started by hand. The listener does not keep the process alive.
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
