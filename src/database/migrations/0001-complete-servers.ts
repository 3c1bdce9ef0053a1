import type { Mongo } from '../../platform/mongo.ts';
import { newProbeState } from '../../servers/listed-servers.ts';

/**
 * Completes servers that builds before 0.1.0 stored: adds a new state of probes, the probed uptime null, and the list
 * of slugs. If such a server has reported, `firstReportAt` becomes 1970, so that the aggregation of any day includes
 * its reports.
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
