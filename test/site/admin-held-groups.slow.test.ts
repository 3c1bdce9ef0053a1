import { ObjectId, UUID } from 'mongodb';
import { beforeEach, describe, expect, test } from 'vitest';
import { MOST_DECIDED } from '../../src/votes/exclusions/decide-held.ts';
import { openQuarantine } from '../../src/votes/exclusions/quarantine.ts';
import { castVote } from '../support/casting.ts';
import { listServersAt } from '../support/servers.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, sendForm, textOf, webAppOfFile } from '../support/web-app.ts';

const web = webAppOfFile();
let operator: SignedInUser;

beforeEach(async () => {
  operator = await signIn(web(), { role: 'operator' });
});

/**
 * Holds one vote of one network for each of so many new servers. Only the first is held by the product; the others are
 * copies of it.
 */
async function holdOn(servers: number): Promise<void> {
  const { deps } = web();
  const ports = Array.from({ length: servers }, (_, n) => n + 1);
  const [serverId, ...others] = await listServersAt(deps, ports, 'a-token-of-a-test');
  if (!serverId) throw new Error('no server');
  const network = { cause: 'network', origin: 'aHashOfANetwork-012345' } as const;
  const quarantineId = await openQuarantine(deps, serverId, 'One network.', network);
  const cast = await castVote(deps, { serverId, username: 'Seven', tokenId: null, quarantineId });
  const quarantine = await deps.voteExclusions.findOne({ _id: quarantineId });
  const vote = await deps.votes.findOne({ serverId, _id: cast.vote._id });
  if (!quarantine || !vote || others.length === 0) return;
  const held = others.map((id) => ({ serverId: id, quarantineId: new ObjectId() }));
  await deps.voteExclusions.insertMany(
    held.map((one) => ({ ...quarantine, _id: one.quarantineId, serverId: one.serverId })),
  );
  await deps.votes.insertMany(
    held.map((one) => ({
      ...vote,
      _id: new UUID(),
      serverId: one.serverId,
      excludedBy: [one.quarantineId],
    })),
  );
}

const read = async (path: string) => (await getPage(web(), path, operator.headers)).body;
const items = (body: string) => body.match(/data-item/g)?.length ?? 0;
const inState = (state: 'quarantined' | 'confirming' | 'releasing') =>
  web().deps.voteExclusions.countDocuments({ state });

/** The hidden fields of the form with a button, and a reason. */
function fieldsOf(body: string, text: string): Record<string, string> {
  const form = body.split('<form').find((one) => one.includes(`">${text}<`)) ?? '';
  const fields = [...form.matchAll(/name="(\w+)" value="([^"]*)"/g)];
  return {
    ...Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value])),
    reason: 'One network.',
  };
}

/** Presses a button of a page; the page with the result. */
async function press(body: string, text: string, path = ''): Promise<string> {
  const form = `/operator/attention/held${path}`;
  const { statusCode, headers } = await sendForm(web(), form, fieldsOf(body, text), operator.headers);
  expect(statusCode).toBe(303);
  return read(String(headers.location));
}

describe('the held votes of one network on more servers than a page shows', () => {
  test('are one item on one page: one press excludes all, and one press undoes all', async () => {
    await holdOn(41);
    const body = await read('/operator?tab=held');
    expect(textOf(body)).toContain('40 or more votes held for 41 servers One network, ');
    expect(textOf(body)).toContain('those of the newest 40 of 41 servers.');
    expect(items(body)).toBe(1);
    expect(body).not.toContain('from=');

    const result = await press(body, 'Exclude');
    expect(textOf(result)).toContain('The held votes of 41 servers stay out of the counts');
    expect(textOf(result)).toContain('No votes are held.');
    expect([await inState('quarantined'), await inState('confirming')]).toEqual([0, 41]);

    expect(textOf(await press(result, 'Undo: count and deliver', '/undo'))).toContain('Undone.');
    expect(await inState('releasing')).toBe(41);
  });

  test('are decided once on each server if two operators press at once, and each reads how many', async () => {
    await holdOn(41);
    const body = await read('/operator?tab=held');
    const results = await Promise.all([press(body, 'Exclude'), press(body, 'Count and deliver all')]);
    const decided = [await inState('confirming'), await inState('releasing')];
    expect((decided[0] ?? 0) + (decided[1] ?? 0)).toBe(41);
    for (const [i, result] of results.entries()) {
      const missed = decided[1 - i] ?? 0;
      const text = `Another operator decided first about ${missed} quarantine`;
      expect(textOf(result).includes(text)).toBe(missed > 0);
    }
    expect(await web().deps.auditLog.countDocuments({ action: /^vote\./ })).toBe(41);
  });

  test('on a server that was not in the list when the page was made stay held', async () => {
    await holdOn(41);
    const body = await read('/operator?tab=held');
    await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(fieldsOf(body, 'Exclude').seen ?? ''));
    await holdOn(1);
    const result = await press(body, 'Exclude');
    expect(textOf(result)).toContain('1 vote came after you opened the page.');
    expect([await inState('quarantined'), await inState('confirming')]).toEqual([1, 41]);
  });
});

test('if a network has more held votes than one press decides: page and result say so, and pressing again continues', async () => {
  await holdOn(MOST_DECIDED + 7);
  const body = await read('/operator?tab=held');
  expect(textOf(body)).toContain(
    'One press decides about the newest 100 of 107; then the others are listed.',
  );
  expect(textOf(body)).toContain('Exclude 100 of 107…');
  const result = await press(body, 'Exclude');
  expect(textOf(result)).toContain('The held votes of 100 servers stay out of the counts');
  expect(textOf(result)).toContain('Still in this list: 7 quarantines. Decide again.');
  expect(textOf(result)).toContain('7 votes held for 7 servers One network, ');
  expect(textOf(await press(result, 'Exclude'))).toContain('The held votes of 7 servers stay out');
  expect(await inState('confirming')).toBe(MOST_DECIDED + 7);
  // The undo covers what its own press decided.
  await press(result, 'Undo: count and deliver', '/undo');
  expect([await inState('confirming'), await inState('releasing')]).toEqual([7, MOST_DECIDED]);
});
