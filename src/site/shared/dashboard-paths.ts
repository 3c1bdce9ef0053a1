import type { Server } from '../../servers/server.ts';

/** The path of a server's dashboard, or of one part of it. */
export function serverPath(base: string, server: Pick<Server, '_id'>, part = ''): string {
  return `${base}/dashboard/servers/${server._id.toHexString()}${part}`;
}
