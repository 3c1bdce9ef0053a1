import type { Mongo } from '../../platform/mongo.ts';
import { newProbeState } from '../../servers/listed-servers.ts';

/**
 * Adds three fields to servers of builds before 0.1.0: the state of their probes, the time of their first report and
 * the list of their slugs. 0.1.0 stores all three.
 */
export async function completeServers({ db }: Mongo): Promise<void> {
  const servers = db.collection('servers');
  await servers.updateMany(
    { probe: { $exists: false } },
    { $set: { probe: newProbeState(new Date()), 'daily.probedUptime': null } },
  );
  await servers.updateMany(
    { 'lastReport.at': { $exists: true }, firstReportAt: { $exists: false } },
    { $set: { firstReportAt: new Date(0) } },
  );
  await servers.updateMany({ slugs: { $exists: false } }, [{ $set: { slugs: ['$slug'] } }]);
}
