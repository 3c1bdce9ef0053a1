import { createConnection } from 'node:net';
import { SECOND } from '../platform/clock.ts';
import type { ServiceKind } from './service-process.ts';

export const REDIS: ServiceKind = {
  title: 'Redis',
  damaged: /append.?only|AOF/i,
  args: (dataDir, port) => [
    '--bind',
    '127.0.0.1',
    '--port',
    String(port),
    '--dir',
    dataDir,
    '--appendonly',
    'yes',
    '--save',
    '',
    '--maxmemory-policy',
    'noeviction',
    '--daemonize',
    'no',
  ],
  answeringPid: (port) =>
    new Promise((resolve, reject) => {
      const socket = createConnection({ port, host: '127.0.0.1' }, () => socket.write('INFO\r\n'));
      let answer = '';
      socket.setEncoding('utf8').setTimeout(SECOND, () => socket.destroy());
      socket.on('data', (text: string) => {
        answer += text;
        // Wait until the CPU section arrives: `process_id` and `loading` come before it, so they are complete then.
        if (!answer.includes('# CPU')) return;
        socket.destroy();
      });
      socket.on('error', reject);
      socket.on('close', () => {
        const pid = /process_id:(\d+)/.exec(answer)?.[1];
        resolve(pid && /loading:0/.test(answer) ? Number(pid) : undefined);
      });
    }),
  address: (port) => `redis://127.0.0.1:${port}`,
};
