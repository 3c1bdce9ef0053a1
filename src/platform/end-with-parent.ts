/**
 * Calls `onGone` when the parent process exits for any reason; an IPC channel connects the two. Does nothing if this
 * process has no such channel, because it was started from a shell. The event listener does not keep the process alive.
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
