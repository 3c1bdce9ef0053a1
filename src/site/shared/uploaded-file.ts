import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { t } from '../../language/t.ts';
import { PictureError } from '../../platform/pictures/picture-error.ts';
import { LARGEST_UPLOAD } from '../../platform/pictures/picture-limits.ts';
import { PageError } from '../error-pages.ts';

/** Each uses up to 1 MB of memory, for long if the client is slow. */
const MOST_READ_AT_ONCE = 16;

/** With the headers and boundaries of the file's part. */
const LARGEST_REQUEST = LARGEST_UPLOAD + 8 * 1_024;

/** The body of a larger request is not read to its end; the browser may then not show the answer. */
const LARGEST_REFUSED = 32 * 1_024 * 1_024;

const LIMITS = {
  files: 1,
  fields: 0,
  parts: 1,
  fileSize: LARGEST_UPLOAD,
  headerPairs: 10,
  fieldNameSize: 100,
};

/** The function that reads a file throws a `PictureError` `busy` if too many are read now; else as `uploadedFile`. */
export async function acceptUploads(app: FastifyInstance) {
  await app.register(multipart, { limits: LIMITS });
  let reading = 0;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    if (reading >= MOST_READ_AT_ONCE) throw new PictureError('busy');
    reading += 1;
    return uploadedFile(request, reply).finally(() => {
      reading -= 1;
    });
  };
}

/**
 * @throws {PictureError} `none` if there is no file or it is empty; `too-large`
 * @throws {PageError} 411 if the request does not state its length, 400 if the upload is malformed
 */
async function uploadedFile(request: FastifyRequest, reply: FastifyReply): Promise<Buffer> {
  const none = new PictureError('none');
  if (!request.isMultipart()) throw none;
  const length = Number(request.headers['content-length'] ?? Number.NaN);
  if (Number.isNaN(length)) throw new PageError(411, t('The upload must state its length.'));
  if (length > LARGEST_REFUSED) reply.header('connection', 'close');
  if (length > LARGEST_REQUEST) throw tooLarge();
  const { RequestFileTooLargeError } = request.server.multipartErrors;
  try {
    const file = await request.file();
    const bytes = await file?.toBuffer();
    if (!bytes || bytes.length === 0) throw none;
    return bytes;
  } catch (error) {
    if (error instanceof RequestFileTooLargeError) throw tooLarge();
    if (error instanceof PictureError) throw error;
    request.log.info({ event: 'site.upload_malformed', err: error });
    throw new PageError(400, t('The upload is malformed. Reload the page and try again.'));
  }
}

const tooLarge = () => new PictureError('too-large');
