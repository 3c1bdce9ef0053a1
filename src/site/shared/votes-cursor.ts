import { z } from 'zod';
import { parseVotesCursor } from '../../votes/read-votes.ts';

/** The schema of the query parameter that says where a page of votes begins. An invalid value counts as absent. */
export const votesCursor = z.string().transform(parseVotesCursor).optional().catch(undefined);
