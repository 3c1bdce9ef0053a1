import { z } from 'zod';
import { readVotesFrom } from '../../votes/vote-pages.ts';

/** The start of a page of votes in a link. Invalid values count as absent. */
export const votesFrom = z.string().transform(readVotesFrom).optional().catch(undefined);
