import { z } from 'zod';
import { parseVotesCursor } from '../../votes/vote-pages.ts';

/** The query parameter with the start of a page of votes. An invalid value counts as absent. */
export const votesCursor = z.string().transform(parseVotesCursor).optional().catch(undefined);
