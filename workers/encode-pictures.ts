import type { Processor } from 'bullmq';
import type { PictureProcess } from '../src/platform/pictures/picture-process.ts';
import { type Payload, QUEUES } from '../src/platform/queues.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import { encodeUpload } from '../src/servers/encode-upload.ts';

/** Returns the processor of `encode-pictures`. After a failure the scheduler adds the job again when it is due. */
export function encodePicturesWorker(
  deps: AppDeps,
  pictureProcess: PictureProcess,
): Processor<Payload<'encode-pictures'>> {
  return async (job) => {
    const { uploadId } = QUEUES['encode-pictures'].payload.parse(job.data);
    return { end: await encodeUpload({ ...deps, pictureProcess }, uploadId) };
  };
}
