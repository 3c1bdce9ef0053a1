import { defineMessage } from '../../language/t.ts';
import type { Server } from '../../servers/server.ts';

/** The parts of a server's dashboard, in the order of their tabs. */
export const DASHBOARD_PARTS = [
  ['', defineMessage('Overview')],
  ['/profile', defineMessage('Profile')],
  ['/votes', defineMessage('Votes')],
  ['/connect', defineMessage('Connect')],
  ['/listener', defineMessage('Vote listener')],
  ['/deliveries', defineMessage('Delivery')],
  ['/tokens', defineMessage('API access')],
  ['/statistics', defineMessage('Statistics')],
  ['/reviews', defineMessage('Reviews')],
  ['/members', defineMessage('Members')],
  ['/settings', defineMessage('Settings')],
] as const;

/** The path of a server's dashboard, or of one part of it. */
export function serverPath(base: string, server: Pick<Server, '_id'>, part = ''): string {
  return `${base}/dashboard/servers/${server._id.toHexString()}${part}`;
}
