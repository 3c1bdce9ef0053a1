import { expect, it } from 'vitest';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { getPage, sendForm, textOf, webAppOfFile } from '../support/web-app.ts';

const shared = webAppOfFile();

async function listed() {
  const web = shared();
  const owner = await signIn(web);
  const serverId = await addOwnedServer(web.deps, owner.userId);
  const { slug = '' } = (await web.deps.servers.findOne({ _id: serverId })) ?? {};
  return { ...web, owner, serverId, slug, path: `/servers/${slug}/report` };
}

it('a visitor reports a server; an operator sees it, opens the server and closes the report', async () => {
  const web = await listed();
  expect((await getPage(web, `/servers/${web.slug}`)).body).toContain(`href="${web.path}"`);
  const sent = await sendForm(web, web.path, { kind: 'scam', text: 'They ask for <b>passwords' });
  expect([sent.statusCode, sent.headers.location]).toEqual([303, `${web.path}?done=sent`]);
  const thanks = (await getPage(web, `${web.path}?done=sent`)).body;
  expect(textOf(thanks)).toContain('Thank you The operators of this listing will look at your report.');
  expect(thanks).not.toContain('/report" class');
  expect(thanks).toContain(`href="/servers/${web.slug}">Back to the server`);
  const [stored] = await web.deps.complaints.find().toArray();
  expect(JSON.stringify(stored)).not.toContain('127.0.0.1');

  const operator = await signIn(web, { role: 'operator' });
  // Bookmarks of the earlier page lead to the inbox.
  const moved = await getPage(web, '/operator/complaints', operator.headers);
  expect(moved.headers.location).toBe('/operator?tab=reports');
  const page = '/operator?tab=reports';
  const list = (await getPage(web, page, operator.headers)).body;
  expect(textOf(list)).toContain('1 report about Alpha Craft');
  expect(list).toContain('They ask for &lt;b&gt;passwords');
  expect(list).toContain(`/operator/servers/${web.serverId.toHexString()}`);
  const item = stored?._id.toHexString() ?? '';
  const seen = '2026-11-29T10:00:00.000Z';
  const decide = (decision: string, { by = operator, ...more } = {}) =>
    sendForm(web, '/operator/attention/reports', { decision, item, seen, ...more }, by.headers);
  const after = async ({ headers }: { headers: { location?: string | undefined } }) =>
    textOf((await getPage(web, headers.location ?? '', operator.headers)).body);
  const closed = await after(await decide('close'));
  expect(closed).toContain('1 report closed.');
  expect(closed).toContain('No open reports.');
  // The same press again, for example because its answer was lost.
  expect(await after(await decide('close'))).toContain('1 report closed.');
  const by = await signIn(web, { role: 'operator' });
  expect(await after(await decide('close', { by }))).toContain('1 report had been closed already.');
  expect(await after(await decide('reopen', { by }))).toContain('0 reports open again.');
  expect(await after(await decide('reopen'))).toContain('1 report about Alpha Craft');
  expect(await web.deps.auditLog.countDocuments({ action: 'complaint.reopen' })).toBe(1);
  expect(await web.deps.auditLog.findOne({ action: 'complaint.close' })).toMatchObject({
    by: operator.email,
    serverId: web.serverId,
  });
});

it('nothing is chosen at first, and a reason is required', async () => {
  const web = await listed();
  const { body } = await getPage(web, web.path);
  const [, field = ''] = /<select id="kind"([^>]*)>/.exec(body) ?? [];
  expect(field).toContain('required');
  expect(body).toMatch(/<select id="kind"[^>]*>\s*<option value="" [^>]*>Choose a reason<\/option>/);
  expect(body).not.toMatch(/<option value="[^"]+" selected/);
});

it.each([
  [{ kind: '', text: '' }, 'Choose a reason.'],
  [{ text: 'No reason' }, 'Choose a reason.'],
  [{ kind: 'other', text: '' }, 'Must not be empty.'],
  [{ kind: 'nothing', text: 'x' }, 'Choose a reason.'],
  [{ kind: 'scam', text: 'x'.repeat(1_001) }, 'at most 1,000 characters'],
])('wrong input is shown with its error: %#', async (fields, error) => {
  const web = await listed();
  const answer = await sendForm(web, web.path, fields);
  expect(answer.statusCode).toBe(400);
  expect(textOf(answer.body)).toContain(error);
  expect(await web.deps.complaints.countDocuments()).toBe(0);
});

it('a network sends five reports a day; a hidden or unknown server takes none', async () => {
  const web = await listed();
  const send = () => sendForm(web, web.path, { kind: 'scam', text: '' });
  const codes = (await Promise.all(Array.from({ length: 7 }, send))).map(({ statusCode }) => statusCode);
  expect(codes.toSorted()).toEqual([303, 303, 303, 303, 303, 429, 429]);
  await web.deps.servers.updateOne({ _id: web.serverId }, { $set: { hiddenAt: new Date() } });
  expect((await send()).statusCode).toBe(404);
  expect((await sendForm(web, '/servers/nobody/report', { kind: 'scam', text: '' })).statusCode).toBe(404);
});
