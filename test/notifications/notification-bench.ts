import type { User } from '../../src/accounts/user.ts';
import type { EventKind } from '../../src/events/kinds.ts';
import { mailContext } from '../../src/mail/outbox.ts';
import { EVENTS } from '../../src/notifications/kinds.ts';
import { notifyOwners } from '../../src/notifications/notify-owners.ts';
import { NEVER, subscribe } from '../events/source-bench.ts';
import { openDeliveryDeps } from '../support/delivering.ts';
import { addOwnedServer, addOwner } from '../support/owned-server.ts';

export const NOTICE_KINDS: EventKind[] = [...new Set(Object.values(EVENTS).map(({ type }) => type))];

/** A platform, and a server with an owner and a subscription to all that owners get mails about. */
export async function notificationBench({
  user = {},
  env = {},
}: {
  user?: Partial<User>;
  env?: Record<string, string>;
} = {}) {
  const deps = await openDeliveryDeps({
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'votes@example.org',
    PUBLIC_URL: 'https://example.org/listing',
    ...env,
  });
  const { clock } = deps;
  const ownerId = await addOwner(deps, user);
  const serverId = await addOwnedServer(deps, ownerId);
  await subscribe(deps, serverId, NOTICE_KINDS);
  return {
    deps,
    clock,
    ownerId,
    serverId,
    tell: () => notifyOwners(deps, NEVER),
    /** The written mails, by the beginning of their id. */
    async mails() {
      const found = await deps.mails.find().sort({ createdAt: 1, _id: 1 }).toArray();
      return found.map(({ _id, to, subject, sealedText }) => ({
        event: _id.split(':')[0],
        to,
        subject,
        text: sealedText ? deps.secrets.open(sealedText, mailContext(_id)) : '',
      }));
    },
    events: () => deps.events.find({ serverId }).sort({ at: 1, _id: 1 }).toArray(),
  };
}

export type NotificationBench = Awaited<ReturnType<typeof notificationBench>>;
