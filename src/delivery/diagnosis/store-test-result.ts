import type { Collection } from 'mongodb';
import type { Listener, ListenerTestResult } from '../../listeners/listener.ts';
import type { Diagnosis } from './diagnosis.ts';

/**
 * Stores what a test found with its time and outcome, for the listener's page. Texts are not stored: they follow from
 * the codes, in the language of the page.
 *
 * @param shown - as the owner may see it
 * @param at - when the test began: a newer test is not changed
 */
export async function storeTestResult(
  { listeners }: { listeners: Collection<Listener> },
  { serverId, _id, revision }: Pick<Listener, 'serverId' | '_id' | 'revision'>,
  at: Date,
  { fault, step, reply, isReplyHidden, detail }: Diagnosis,
  hasGamePort: boolean,
): Promise<void> {
  const result: ListenerTestResult = {
    step,
    ...(fault ? { fault } : {}),
    ...(reply ? { reply } : {}),
    ...(isReplyHidden ? { isReplyHidden } : {}),
    ...(detail ? { detail } : {}),
    ...(hasGamePort ? { hasGamePort } : {}),
  };
  await listeners.updateOne(
    { serverId, _id, revision, 'tested.at': at },
    { $set: { 'tested.result': result } },
  );
}
