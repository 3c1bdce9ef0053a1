import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import PQueue from 'p-queue';
import { SECOND } from '../clock.ts';
import { DeadlineError, within } from '../deadline.ts';
import type { Logger } from '../log.ts';
import { PictureError, PictureProcessError } from './picture-error.ts';
import type { PictureAnswer, PictureRequest, PictureTask, PictureTasks } from './picture-tasks.ts';

const ENTRY = fileURLToPath(new URL('./picture-child.ts', import.meta.url));

/** A child is replaced after so many pictures, because each drawing leaks 3 MB. */
const PICTURES_A_CHILD = 50;
/** If a child has more memory than this after a picture, in bytes, it is replaced too. */
const MOST_MEMORY = 400 * 1_024 * 1_024;
/** After this time without work a child ends, so that an idle worker has no child. */
const IDLE_MS = 30 * SECOND;
/** How long one picture may take, including the start of the child. */
const DEADLINE_MS = 30 * SECOND;

export type PictureProcess = {
  /**
   * Does one task. Further tasks wait until it has ended.
   *
   * @throws {PictureError} when the picture is refused
   * @throws {PictureProcessError} when the child died, was killed or took longer than 30 seconds
   */
  run<K extends PictureTask>(task: K, input: PictureTasks[K]['input']): Promise<PictureTasks[K]['result']>;
  /** Kills the child. Running and later tasks fail with `stopped`. */
  close(): void;
};

/**
 * Controls a child process that decodes, encodes and draws pictures. It is started with the first task and gets no
 * settings and no secrets. `tinypool` cannot replace this: it replaces a child by its heap only, and the leak is outside
 * the heap; it has no number of tasks for a child, and its deadlines would count the wait in the queue.
 */
export function createPictureProcess(
  log: Logger,
  { deadlineMs = DEADLINE_MS, picturesEach = PICTURES_A_CHILD, mostMemory = MOST_MEMORY } = {},
): PictureProcess {
  const inTurn = new PQueue({ concurrency: 1 });
  let isClosed = false;
  let current: ChildProcess | undefined;
  let pictures = 0;
  let idle: NodeJS.Timeout | undefined;

  function child(): ChildProcess {
    clearTimeout(idle);
    if (current?.connected && current.exitCode === null && current.signalCode === null) return current;
    pictures = 0;
    current = startChild(log);
    return current;
  }

  function retire(): void {
    current?.kill('SIGKILL');
    current = undefined;
  }

  async function run<K extends PictureTask>(task: K, input: PictureTasks[K]['input']) {
    if (isClosed) throw stopped();
    const own = child();
    pictures += 1;
    try {
      const answer = await answerOf(own, { task, input }, deadlineMs);
      if (pictures >= picturesEach || answer.rss > mostMemory) retire();
      if ('refused' in answer) throw new PictureError(answer.refused);
      return answer.result as PictureTasks[K]['result'];
    } catch (error) {
      if (!(error instanceof PictureProcessError)) throw error;
      retire();
      if (isClosed) throw stopped();
      log.warn({ event: 'picture_process.failed', task, reason: error.code, childPid: own.pid });
      throw error;
    } finally {
      if (current) idle = setTimeout(retire, IDLE_MS).unref();
    }
  }

  return {
    run: (task, input) => inTurn.add(() => run(task, input)),
    close() {
      isClosed = true;
      clearTimeout(idle);
      retire();
    },
  };
}

const stopped = () => new PictureProcessError('stopped', 'the process stops');

function startChild(log: Logger): ChildProcess {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = fork(ENTRY, {
    env: { PATH, ...(NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}) },
    execArgv: ['--max-old-space-size=128'],
    // With this serialization, a buffer arrives as a buffer.
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.on('error', (error) => log.debug({ event: 'picture_process.error', reason: error.message }));
  child.unref();
  child.channel?.unref();
  log.debug({ event: 'picture_process.started', childPid: child.pid });
  return child;
}

async function answerOf(
  child: ChildProcess,
  request: PictureRequest,
  deadlineMs: number,
): Promise<PictureAnswer> {
  const settled = new AbortController();
  const { signal } = settled;
  const ended = new PictureProcessError('ended', 'the picture process ended');
  try {
    // First: without a free file descriptor the child has no channel and this throws. An answer comes in a later turn.
    child.send(request);
    const answer = once(child, 'message', { signal });
    const end = once(child, 'exit', { signal }).then(() => Promise.reject(ended));
    const [message] = await within(deadlineMs, Promise.race([answer, end]));
    return message;
  } catch (error) {
    if (!(error instanceof DeadlineError)) throw ended;
    throw new PictureProcessError('timeout', `the picture process took longer than ${deadlineMs} ms`);
  } finally {
    settled.abort();
  }
}
