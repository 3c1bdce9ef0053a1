import type { Server } from '../../servers/server.ts';

export function serverPath(base: string, server: Pick<Server, '_id'>, part = ''): string {
  return `${base}/dashboard/servers/${server._id.toHexString()}${part}`;
}
