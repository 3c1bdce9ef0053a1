import { ObjectId, type WithId } from 'mongodb';
import { onTestFinished } from 'vitest';
import { createAsk } from '../../src/probing/ask-server.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { type DraftSettings, saveDraft } from '../../src/servers/drafts.ts';
import type { ServerDraft } from '../../src/servers/server-draft.ts';
import { type ProveDeps, proveDraft } from '../../src/workflows/prove-draft.ts';
import { type Prover, requestDraftProof } from '../../src/workflows/request-proof.ts';
import { JavaServer } from '../support/fake-game-servers.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';

/** A platform that may query this machine, with the dependencies of proofs. */
export async function provingDeps(): Promise<
  AppDeps & ProveDeps & { clock: ReturnType<typeof stoppedClock> }
> {
  const deps = await testDeps({ ALLOWED_PRIVATE_RANGES: '127.0.0.0/8' });
  return { ...deps, clock: stoppedClock(), ask: createAsk(deps.config) };
}

/** A new user who lists servers. */
export function prover(): Prover {
  const _id = new ObjectId();
  return { _id, email: `${_id.toHexString()}@example.org` };
}

/** A Minecraft server on this machine for the length of a test. */
export async function gameServer(): Promise<JavaServer> {
  const game = new JavaServer();
  await game.start();
  onTestFinished(() => game.stop());
  return game;
}

/** A draft of a server on this machine. */
export async function draftOf(
  deps: ProveDeps,
  { _id }: Prover,
  settings: Partial<DraftSettings> & { port: number },
): Promise<WithId<ServerDraft>> {
  const input = { name: 'Alpha Craft', address: '127.0.0.1', game: 'minecraft', ...settings };
  const draft = await saveDraft(deps, _id, input);
  if (!draft) throw new Error('no draft');
  return draft;
}

/** Asks for a check and makes it, as a page and a worker do. */
export async function requestAndProve(deps: AppDeps & ProveDeps, who: Prover, draftId: ObjectId) {
  return (await requestDraftProof(deps, who, draftId)) ?? (await proveDraft(deps, who, draftId));
}

/** Puts a draft's code into the game server's message and checks the draft. */
export function shownBy(deps: ProveDeps, who: Prover, draft: ServerDraft, game: JavaServer) {
  game.said.motd = `Welcome! ${draft.code}`;
  return proveDraft(deps, who, draft._id);
}
