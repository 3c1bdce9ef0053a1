import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  countedPlayers,
  type DayEvidence,
  networkWeights,
  weighDay,
} from '../../src/ranking/evidence/weigh-day.ts';

type Part = Partial<Omit<DayEvidence, 'form' | 'api' | 'network' | 'players'>> & {
  /** Seen today and usually. */
  players?: number | null;
  form?: Partial<DayEvidence['form']>;
  api?: Partial<DayEvidence['api']>;
  network?: Partial<DayEvidence['network']>;
};

function evidence({ form, api, network, players = 12, ...rest }: Part): DayEvidence {
  return {
    imported: 0,
    players: players === null ? null : { most: players, usual: players },
    allowance: 0,
    ...rest,
    form: { regulars: 0, newcomers: 0, ...form },
    api: { regulars: 0, newcomers: 0, unknown: 0, ...api },
    network: { tenths: 0, nothing: 0, ...network },
  };
}

const weigh = (part: Part) => weighDay(evidence(part));

it('counts regulars of the vote form and imported votes in full', () => {
  expect(weigh({ imported: 5_000, form: { regulars: 40 } })).toEqual({ tenths: 50_400 });
});

it('counts new names in full up to three for each player, at least 20, and a tenth of each further one', () => {
  expect(weigh({ form: { newcomers: 36 } })).toEqual({ tenths: 360 });
  expect(weigh({ form: { newcomers: 46 } })).toEqual({ tenths: 370, newcomers: 10 });
  expect(weigh({ players: 0, form: { newcomers: 30 } })).toEqual({ tenths: 210, newcomers: 10 });
  expect(weigh({ players: 120, form: { newcomers: 200 } })).toEqual({ tenths: 2_000 });
});

it('counts votes of the API in full up to five for each player, at least 20; regulars come first', () => {
  expect(weigh({ api: { regulars: 60 } })).toEqual({ tenths: 600 });
  expect(weigh({ api: { regulars: 70 } })).toEqual({ tenths: 610, api: 10 });
  expect(weigh({ api: { regulars: 55, newcomers: 10 } })).toEqual({ tenths: 605, api: 5 });
  // New names of the API use the room of new names as well.
  expect(weigh({ form: { newcomers: 30 }, api: { newcomers: 10 } })).toEqual({ tenths: 364, newcomers: 4 });
});

it('lets votes above ten for each player, at least 50, wait; those with evidence are counted first', () => {
  expect(weigh({ form: { newcomers: 5_000 } })).toEqual({ tenths: 444, newcomers: 84, waiting: 4_880 });
  expect(weigh({ form: { regulars: 130 } })).toEqual({ tenths: 1_200, waiting: 10 });
  expect(weigh({ players: 0, form: { regulars: 40, newcomers: 40 } })).toEqual({ tenths: 500, waiting: 30 });
  const mixed = weigh({
    form: { regulars: 100 },
    api: { regulars: 100 },
    network: { tenths: 5, nothing: 3 },
  });
  expect(mixed).toEqual({ tenths: 1_200, network: 3, waiting: 85 });
});

it('counts votes of the API by names that never voted on the page up to 20, and lets the others wait', () => {
  expect(weigh({ api: { unknown: 37 } })).toEqual({ tenths: 200, unknown: 17 });
  expect(weigh({ players: 1_000, api: { unknown: 1_500 } })).toEqual({ tenths: 200, unknown: 1_480 });
  // They are new names, and fill the rooms that known names leave.
  expect(weigh({ players: 0, form: { newcomers: 15 }, api: { unknown: 30 } })).toEqual({
    tenths: 215,
    newcomers: 15,
    unknown: 10,
  });
  expect(weigh({ api: { regulars: 50, unknown: 15 } })).toEqual({ tenths: 600, unknown: 5 });
  expect(weigh({ allowance: 40, api: { unknown: 37 } })).toEqual({ tenths: 370 });
});

it('counts more than 25 players up to twice the usual ones', () => {
  expect(countedPlayers({ most: 1_000, usual: 15 })).toBe(30);
  expect(countedPlayers({ most: 1_000, usual: 0 })).toBe(25);
  expect(countedPlayers({ most: 12, usual: 0 })).toBe(12);
  expect(countedPlayers({ most: 400, usual: 300 })).toBe(400);
  expect(countedPlayers(null)).toBe(25);
});

it('takes a server where no check sees players as one with 25, and an operator’s allowance as evidence', () => {
  expect(weigh({ players: null, form: { newcomers: 75 } })).toEqual({ tenths: 750 });
  expect(weigh({ players: null, api: { regulars: 126 } })).toEqual({ tenths: 1_251, api: 1 });
  expect(weigh({ allowance: 5_000, form: { newcomers: 4_000 }, api: { regulars: 900 } })).toEqual({
    tenths: 49_000,
  });
});

it('counts more than 1,000 players as 1,000, because a game server can claim any number', () => {
  const invented = { form: { newcomers: 3_010 } };
  expect(weigh({ players: 1_000, ...invented })).toEqual({ tenths: 30_010, newcomers: 10 });
  expect(weigh({ players: 2_000_000, ...invented })).toEqual({ tenths: 30_010, newcomers: 10 });
  expect(weigh({ players: 2_000_000, api: { newcomers: 20_000 } })).toMatchObject({ waiting: 10_000 });
});

const plain = { isProven: false };

it('counts four votes of a network in full, forty further ones a tenth each, and the rest not', () => {
  const household = Array.from({ length: 4 }, () => plain);
  expect(networkWeights(household, 1)).toEqual([10, 10, 10, 10]);
  const weights = networkWeights(
    Array.from({ length: 500 }, () => plain),
    1,
  );
  expect(weights.slice(0, 6)).toEqual([10, 10, 10, 10, 1, 1]);
  expect(weights.reduce((sum, weight) => sum + weight)).toBe(80);
  const site = networkWeights(
    Array.from({ length: 500 }, () => plain),
    4,
  );
  expect(site.reduce((sum, weight) => sum + weight)).toBe(320);
});

it('counts up to four more of a network that are of regulars or old accounts; they come first', () => {
  const class25 = Array.from({ length: 25 }, (_, i) => ({ isProven: i > 22 }));
  const weights = networkWeights(class25, 1);
  expect(weights.filter((weight) => weight === 10)).toHaveLength(6);
  expect(weights.at(-1)).toBe(10);
  const proven = networkWeights(
    Array.from({ length: 500 }, () => ({ isProven: true })),
    1,
  );
  expect(proven.reduce((sum, weight) => sum + weight)).toBe(120);
});

const upTo = (max: number) => fc.integer({ min: 0, max });
const anyEvidence = fc.record({
  imported: upTo(50),
  form: fc.record({ regulars: upTo(300), newcomers: upTo(300) }),
  api: fc.record({ regulars: upTo(300), newcomers: upTo(300), unknown: upTo(300) }),
  network: fc.record({ tenths: upTo(100), nothing: upTo(100) }),
  players: fc.option(fc.record({ most: upTo(200), usual: upTo(40) })),
  allowance: fc.constantFrom(0, 0, 100, 1_000),
});

it('gives each vote one weight and one reason, and a further vote never lowers the sum', () => {
  const kinds: ((of: DayEvidence) => void)[] = [
    (of) => (of.imported += 1),
    (of) => (of.form.regulars += 1),
    (of) => (of.form.newcomers += 1),
    (of) => (of.api.regulars += 1),
    (of) => (of.api.newcomers += 1),
    (of) => (of.api.unknown += 1),
    (of) => (of.network.tenths += 1),
    (of) => (of.network.nothing += 1),
  ];
  fc.assert(
    fc.property(anyEvidence, fc.constantFrom(...kinds), (of, add) => {
      const { tenths, network = 0, newcomers = 0, api = 0, unknown = 0, waiting = 0 } = weighDay(of);
      const votes =
        of.imported +
        of.form.regulars +
        of.form.newcomers +
        of.api.regulars +
        of.api.newcomers +
        of.api.unknown +
        of.network.tenths +
        of.network.nothing;
      const full = votes - network - newcomers - api - unknown - waiting;
      expect(full).toBeGreaterThanOrEqual(0);
      expect(tenths).toBeGreaterThanOrEqual(10 * full);
      expect(tenths).toBeLessThanOrEqual(10 * full + network + newcomers + api);
      const more = structuredClone(of);
      add(more);
      expect(weighDay(more).tenths).toBeGreaterThanOrEqual(tenths);
    }),
  );
});
