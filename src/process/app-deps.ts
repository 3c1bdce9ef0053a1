import type { AccountsDeps } from '../accounts/deps.ts';
import { hashPassword, type PasswordHasher, verifyPassword } from '../accounts/password.ts';
import { bindCollections, type Collections } from '../database/collections.ts';
import type { TtlCache } from '../platform/batching/ttl-cache.ts';
import { SECOND } from '../platform/clock.ts';
import type { ConnectedConfig } from '../platform/config.ts';
import { type OpenOptions, openResources, type Resources } from '../platform/resources.ts';
import type { AuthenticatedToken } from '../servers/api-token.ts';
import { createAuthenticationCache } from '../servers/authenticate-token.ts';
import { type LiveSettings, openLiveSettings } from '../settings/live-settings.ts';
import { followOwnTexts } from '../settings/own-texts.ts';
import { BlockList } from '../votes/blocks/block-list.ts';
import { ImportedCooldowns } from '../votes/cast/imported-cooldowns.ts';
import { VoteCounts } from '../votes/vote-counts.ts';
import { PROOF_ITERATIONS } from '../votes/web/proof-of-work.ts';
import { adoptOnEntry } from '../workflows/transfer-server.ts';

/** Each feature's functions take what its folder uses (`deps.ts` there). */
export type AppDeps = Resources &
  Collections & {
    authentications: TtlCache<AuthenticatedToken>;
    passwords: PasswordHasher;
    /** What one try of a proof of work costs, in iterations of PBKDF2. */
    proofIterations: number;
    voteCounts: VoteCounts;
    blockList: BlockList;
    importedCooldowns: ImportedCooldowns;
    adoptServers: AccountsDeps['adoptServers'];
    /** Keeps `config` up to date with the settings that operators change while the process runs. */
    liveSettings: LiveSettings;
  };

/** Throws like `openResources` and `openLiveSettings`. */
export async function openAppDeps(
  config: ConnectedConfig,
  processName: string,
  options: OpenOptions = {},
): Promise<AppDeps> {
  // The stored settings change the configuration, so it is copied.
  const resources = await openResources({ ...config }, processName, options);
  const collections = bindCollections(resources.mongo);
  const parts = { ...resources, settings: collections.settings };
  const liveSettings = await openLiveSettings(parts, options.mongoTimeoutMs).catch(async (error: unknown) => {
    await resources.close();
    throw error;
  });
  const ownTexts = await followOwnTexts(config.LANGUAGES_DIR, resources.log);
  const voteCounts = new VoteCounts(collections.voteCounters, resources.batcher, resources.log);
  const blockList = new BlockList(collections.blocks, resources.log);
  const deps: AppDeps = {
    ...resources,
    ...collections,
    authentications: createAuthenticationCache(),
    passwords: { hash: hashPassword, verify: verifyPassword },
    proofIterations: PROOF_ITERATIONS,
    voteCounts,
    blockList,
    importedCooldowns: new ImportedCooldowns(collections.importMarks),
    liveSettings,
    adoptServers: (userId) => adoptOnEntry(deps, userId),
    async close() {
      liveSettings.close();
      ownTexts.close();
      // The running inserts end first, because each inserted vote is counted afterwards.
      await resources.batcher.settle(SECOND);
      await Promise.all([voteCounts.close(SECOND), blockList.close(SECOND)]);
      await resources.close();
    },
  };
  return deps;
}
