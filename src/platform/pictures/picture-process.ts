import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import PQueue from 'p-queue';
import { SECOND } from '../clock.ts';
import type { Logger } from '../log.ts';
import { PictureError, PictureProcessError } from './picture-error.ts';
import type { PictureAnswer, PictureRequest, PictureTask, PictureTasks } from './picture-tasks.ts';

const ENTRY = fileURLToPath(new URL('./picture-child.ts', import.meta.url));

/** After this many pictures a child is replaced, because each drawing leaks 3 MB. */
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
 * Controls a child process that decodes, encodes and draws pictures. The child is started with the first task and gets
 * no settings and no secrets. It is replaced if it has died, has made 50 pictures, has more than 400 MB of memory, or
 * took too long for a picture.
 *
 * @param options - only tests and benchmarks set them; `mostMemory` in bytes
 */
export function createPictureProcess(
  log: Logger,
  { deadlineMs = DEADLINE_MS, picturesEach = PICTURES_A_CHILD, mostMemory = MOST_MEMORY } = {},
): PictureProcess {
  const inTurn = new PQueue({ concurrency: 1 });
  let isClosed = false;
  let current: Child | undefined;
  let idle: NodeJS.Timeout | undefined;
  let lastId = 0;

  function child(): Child {
    clearTimeout(idle);
    if (current?.isAlive()) return current;
    current = startChild(log);
    return current;
  }

  function retire(): void {
    current?.kill();
    current = undefined;
  }

  async function run<K extends PictureTask>(task: K, input: PictureTasks[K]['input']) {
    if (isClosed) throw stopped();
    const own = child();
    lastId += 1;
    try {
      const answer = await own.ask({ id: lastId, task, input } as PictureRequest, deadlineMs);
      if (own.requests >= picturesEach || answer.rss > mostMemory) retire();
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

type Child = {
  pid: number | undefined;
  requests: number;
  isAlive(): boolean;
  ask(request: PictureRequest, deadlineMs: number): Promise<PictureAnswer>;
  kill(): void;
};

function startChild(log: Logger): Child {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const running: ChildProcess = fork(ENTRY, {
    env: { PATH, ...(NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}) },
    execArgv: ['--max-old-space-size=128'],
    // With this serialization, a buffer arrives as a buffer.
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  running.on('error', (error) => log.debug({ event: 'picture_process.error', reason: error.message }));
  running.unref();
  running.channel?.unref();
  log.debug({ event: 'picture_process.started', childPid: running.pid });
  const own: Child = {
    pid: running.pid,
    requests: 0,
    isAlive: () => running.exitCode === null && running.signalCode === null && running.connected,
    ask(request, deadlineMs) {
      own.requests += 1;
      return answerOf(running, request, deadlineMs);
    },
    kill: () => void running.kill('SIGKILL'),
  };
  return own;
}

/** Sends a request and waits for its answer, for the child's end, or for the deadline. */
function answerOf(
  running: ChildProcess,
  request: PictureRequest,
  deadlineMs: number,
): Promise<PictureAnswer> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void) => {
      clearTimeout(deadline);
      running.off('message', answered).off('exit', ended).off('error', ended);
      end();
    };
    const fail = (code: 'ended' | 'timeout', message: string) =>
      settle(() => reject(new PictureProcessError(code, message)));
    const answered = (message: unknown) => {
      const answer = message as PictureAnswer;
      if (answer.id === request.id) settle(() => resolve(answer));
    };
    const ended = () => fail('ended', 'the picture process ended');
    const deadline = setTimeout(
      () => fail('timeout', `the picture process took longer than ${deadlineMs} ms`),
      deadlineMs,
    );
    running.on('message', answered).once('exit', ended).once('error', ended);
    running.send(request, (error) => {
      if (error) ended();
    });
  });
}
