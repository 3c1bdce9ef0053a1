import type { DayWeight } from '../../votes/vote-counter.ts';

/*
 * The public formula of “How the ranking works” (docs/adr/0109-rank-and-evidence.md): what the votes of a server and
 * UTC day weigh. A further vote never makes the sum smaller, so nobody can lower a server's rank by voting for it.
 */

/** Votes of one network that count in full. For an IPv6 /48, this limit and the next two are four times as high. */
export const FULL_OF_NETWORK = 4;
/** Further votes in full, if they are of regulars or of confirmed accounts that are older than 7 days. */
export const MORE_PROVEN = 4;
/** Further votes that count a tenth each; votes beyond these do not count. */
export const TENTHS_OF_NETWORK = 40;

/** A name with more earlier votes for the server than this is a regular; others are new. */
export const NEW_VOTES = 4;

/** New names count in full up to this number times the server's players, and at least up to `FEWEST`. */
export const NEW_NAMES_A_PLAYER = 3;
/**
 * Votes of the API count in full up to this number times the players, and at least up to `FEWEST`. For those of new
 * names, the limit for new names applies too.
 */
export const API_VOTES_A_PLAYER = 5;
/**
 * The room for new names, and that for votes of the API, are at least this large. For votes of the API by unknown names
 * (`KNOWN_AFTER`) it is the whole room, because an owner can invent them; further ones wait for an operator.
 */
export const FEWEST = 20;

/**
 * All votes of a day except imported ones count up to this number times the players; at least `NEVER_WAITING`. Votes
 * above this limit wait for an operator.
 */
export const VOTES_A_PLAYER = 10;
export const NEVER_WAITING = 50;

/** If our checks saw no number (the game cannot be queried, or there was no check): this many players are assumed. */
export const ASSUMED_PLAYERS = 25;
/** The highest number of players that is used, because a game server can tell our checks any number. */
export const MOST_PLAYERS = 1_000;
/** If checks saw more players than `ASSUMED_PLAYERS`: they count up to this number times the server's usual players. */
export const TIMES_USUAL = 2;

/** The players that our checks saw. */
export type PlayersSeen = {
  /** The most players on the day and the 30 days before. */
  most: number;
  /** The median of the most players of each of the seven days before. A day without a check counts as 0. */
  usual: number;
};

/**
 * The players for which the votes of a day have room. Unusually many players count only once they were seen for a
 * while: a game server can tell our checks any number on any day.
 */
export function countedPlayers(seen: PlayersSeen | null): number {
  if (!seen) return ASSUMED_PLAYERS;
  return Math.min(seen.most, Math.max(ASSUMED_PLAYERS, TIMES_USUAL * seen.usual), MOST_PLAYERS);
}

export type DayEvidence = {
  imported: number;
  form: { regulars: number; newcomers: number };
  /** `unknown`: votes of names that hardly voted on the server's page (`KNOWN_AFTER`); they are in no other figure. */
  api: { regulars: number; newcomers: number; unknown: number };
  /** Votes from the vote form that weigh less because of their network; they are not in `form`. */
  network: { tenths: number; nothing: number };
  /** Null if our checks see no number. */
  players: PlayersSeen | null;
  /** How many votes of a day an operator allows without evidence; 0 without a decision. */
  allowance: number;
};

/** Votes count in full up to `newcomers`, `api` and `unknown`; those above `all` wait. */
export function roomsOf({ players, allowance }: Pick<DayEvidence, 'players' | 'allowance'>) {
  const counted = countedPlayers(players);
  return {
    newcomers: Math.max(FEWEST, NEW_NAMES_A_PLAYER * counted, allowance),
    api: Math.max(FEWEST, API_VOTES_A_PLAYER * counted, allowance),
    unknown: Math.max(FEWEST, allowance),
    all: Math.max(NEVER_WAITING, VOTES_A_PLAYER * counted, allowance),
  };
}

/** Each vote that weighs less has one reason. */
export function weighDay(
  evidence: DayEvidence,
): Pick<DayWeight, 'tenths' | 'network' | 'newcomers' | 'api' | 'unknown' | 'waiting'> {
  const { imported, form, api, network } = evidence;
  const rooms = roomsOf(evidence);
  const apiRegulars = Math.min(api.regulars, rooms.api);
  const apiNewcomers = Math.min(api.newcomers, rooms.api - apiRegulars);
  const unknown = Math.min(api.unknown, rooms.unknown, rooms.api - apiRegulars - apiNewcomers);
  const newNames = form.newcomers + apiNewcomers + unknown;
  const newcomers = Math.min(newNames, rooms.newcomers);
  const full = form.regulars + apiRegulars + newcomers;
  const counted = Math.min(full, rooms.all);

  // If the day's limit is not reached: votes that count a tenth use the rest of it.
  let room = rooms.all - counted;
  const take = (votes: number) => {
    const taken = Math.min(votes, room);
    room -= taken;
    return taken;
  };
  const tenths = {
    network: take(network.tenths),
    api: take(api.regulars + api.newcomers - apiRegulars - apiNewcomers),
    newcomers: take(newNames - newcomers),
  };
  const all = form.regulars + form.newcomers + api.regulars + api.newcomers + unknown + network.tenths;
  const reasons = {
    network: tenths.network + network.nothing,
    newcomers: tenths.newcomers,
    api: tenths.api,
    unknown: api.unknown - unknown,
    waiting: all - counted - tenths.network - tenths.api - tenths.newcomers,
  };
  return {
    tenths: 10 * (imported + counted) + tenths.network + tenths.api + tenths.newcomers,
    ...Object.fromEntries(Object.entries(reasons).filter(([, votes]) => votes > 0)),
  };
}

/** `isProven`: the vote of a regular or of an old account. Proven votes take the full weights first. */
export type NetworkVote = { isProven: boolean };

/** In tenths: 10, 1 or 0. */
export function networkWeights(votes: NetworkVote[], factor: number): number[] {
  const proven = votes.filter(({ isProven }) => isProven).length;
  const full = FULL_OF_NETWORK * factor + Math.min(proven, MORE_PROVEN * factor);
  const order = votes.map((vote, index) => ({ vote, index }));
  order.sort((a, b) => Number(b.vote.isProven) - Number(a.vote.isProven) || a.index - b.index);
  const weights = votes.map(() => 0);
  order.forEach(({ index }, place) => {
    weights[index] = place < full ? 10 : place < full + TENTHS_OF_NETWORK * factor ? 1 : 0;
  });
  return weights;
}
