import { expect, test } from 'vitest';
import type { OutcomeCode } from '../../src/listeners/outcomes.ts';
import { isConfirmed, isSelected, selected } from '../../src/votes/sent-not-confirmed.ts';
import { deliveryBench } from '../support/delivering.ts';

/** Delivered votes by the codes of all their sendings; of the last two no attempt is kept. */
const SENDINGS: [player: string, codes: OutcomeCode[], kept: boolean][] = [
  ['bare', ['sent-not-confirmed'], true],
  ['failed-first', ['no-answer', 'sent-not-confirmed'], true],
  ['twice-bare', ['acknowledged', 'sent-not-confirmed'], true],
  ['mended', ['sent-not-confirmed', 'acknowledged'], true],
  ['taken', ['acknowledged'], true],
  ['old-bare', ['sent-not-confirmed'], false],
  ['old-mended', ['sent-not-confirmed', 'acknowledged'], false],
];

test('a search for unconfirmed deliveries finds the votes that are shown as such, and no others', async () => {
  const { deps, serverId, cast } = await deliveryBench();
  const { votes } = deps;
  for (const [player, codes, kept] of SENDINGS) {
    const { _id } = await cast(player);
    const attempts = codes.map((code) => ({
      code,
      class: code === 'no-answer' ? 'ambiguous' : 'delivered',
    }));
    const counts = Object.fromEntries(codes.map((code) => [code, 1]));
    await votes.updateOne(
      { serverId, _id },
      {
        $set: {
          'delivery.state': 'delivered',
          'delivery.codes': counts,
          'delivery.attempts': (kept ? attempts : []) as never,
        },
      },
    );
  }
  await cast('waiting');
  const all = await votes.find({ serverId }).toArray();
  const named = (found: typeof all) => found.map(({ username }) => username).toSorted();
  const wanted = ['bare', 'failed-first', 'old-bare', 'twice-bare'];
  expect(named(all.filter(({ delivery }) => isConfirmed(delivery) === false))).toEqual(wanted);
  for (const [selections, expected] of [
    [['sent-not-confirmed'], wanted],
    [
      ['sent-not-confirmed', 'waiting'],
      [...wanted, 'waiting'],
    ],
    [['sent-not-confirmed', 'delivered'], SENDINGS.map(([player]) => player).toSorted()],
  ] as const) {
    expect(named(await votes.find({ serverId, ...selected(selections) }).toArray())).toEqual(expected);
    expect(named(all.filter((vote) => selections.some((one) => isSelected(vote, one))))).toEqual(expected);
  }
});
