import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readReviews } from '../../src/reviews/read-reviews.ts';
import { type Cli, openCli } from './tallyport.ts';

let cli: Cli;

beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());

const publicReviews = (serverId: string) =>
  readReviews(cli.deps, new ObjectId(serverId), { page: 1, limit: 10 });

it('a review is public after its approval and until its rejection', async () => {
  const { slug, server_id } = await cli.addServer('Reviewed');
  const added = await cli.run(
    `review add ${slug} --rating 4 --json --username`,
    ' Steve ',
    '--content',
    'Good\npeople',
  );
  const id = String(added.json.review_id);
  expect(added).toMatchObject({ code: 0, json: { review_id: expect.stringMatching(/^[0-9a-f]{24}$/) } });
  expect((await publicReviews(server_id)).reviewCount).toBe(0);

  const approved = await cli.run(`review approve ${id} --json`);
  expect(approved.json).toEqual({ review_id: id, state: 'approved' });
  expect(await publicReviews(server_id)).toMatchObject({
    averageRating: 4,
    reviews: [{ username: 'Steve', rating: 4, content: 'Good\npeople' }],
  });

  const rejected = await cli.run(`review reject ${id}`);
  expect(rejected).toMatchObject({ code: 0, stdout: 'The review of “Steve” is rejected.\n' });
  expect((await publicReviews(server_id)).reviewCount).toBe(0);
});

it('reviews are listed newest first, one on each line, in one state or all', async () => {
  const { slug } = await cli.addServer('Listed reviews');
  const ids: string[] = [];
  for (const content of ['first', `second\n${'x'.repeat(100)}`]) {
    const added = await cli.run(`review add ${slug} --username Steve --rating 5 --json --content`, content);
    ids.push(String(added.json.review_id));
  }
  await cli.run(`review approve ${ids[0]}`);
  const idsOf = async (options: string) =>
    ((await cli.run(`review list ${slug} ${options}--json`)).json.reviews as Record<string, unknown>[]).map(
      (review) => review.review_id,
    );

  expect(await idsOf('')).toEqual(ids.toReversed());
  expect(await idsOf('--state pending ')).toEqual([ids[1]]);
  expect(await idsOf('--limit 1 ')).toEqual([ids[1]]);
  const { stdout } = await cli.run(`review list ${slug}`);
  expect(stdout.trim().split('\n')).toHaveLength(3);
  expect(stdout).toContain('second xxx');
});

it('invalid input returns 1', async () => {
  const { slug } = await cli.addServer('Strict');

  expect((await cli.run(`review add ${slug} --rating 5 --json --username`, ' ')).json.code).toBe(
    'invalid-input',
  );
  expect((await cli.run(`review add nobody --username x --rating 5 --json`)).json.code).toBe(
    'server-not-found',
  );
  expect((await cli.run(`review approve ${new ObjectId()} --json`)).json.code).toBe('review-not-found');
  expect(await cli.run('review reject nonsense')).toMatchObject({ code: 1, stdout: '' });
});
