/**
 * Calls `onGone` when the parent process, connected by an IPC channel, exits for any reason. Does nothing in a process
 * that was started by hand. The listener does not keep the process alive.
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
