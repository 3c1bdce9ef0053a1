import { z } from 'zod';
import { readVotesFrom } from '../../votes/vote-pages.ts';

/** The query parameter with the start of a page of votes. An invalid value counts as absent. */
export const votesFrom = z.string().transform(readVotesFrom).optional().catch(undefined);
