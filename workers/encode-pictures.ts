import { encodeUpload } from '../src/servers/encode-upload.ts';
import { dueUploads } from '../src/servers/picture-uploads.ts';
import type { QueueWork } from './queue-work.ts';

/** Encodes a picture. The scheduler adds jobs for those whose job was lost or whose next attempt is due. */
export const encodePicturesWork: QueueWork<'encode-pictures'> = {
  period: {
    every: 'minute',
    due: async (deps) => (await dueUploads(deps)).map((uploadId) => ({ uploadId })),
  },
  processor:
    ({ deps, pictureProcess }) =>
    async ({ uploadId }) => ({ end: await encodeUpload({ ...deps, pictureProcess }, uploadId) }),
};
