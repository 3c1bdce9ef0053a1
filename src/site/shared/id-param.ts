import type { FastifyRequest } from 'fastify';
import { ObjectId } from 'mongodb';
import { t } from '../../language/t.ts';
import { isId } from '../../servers/slug.ts';
import { PageError } from '../error-pages.ts';

/** @throws {PageError} 404 if the parameter is not an id */
export function idParam(request: FastifyRequest, name: string): ObjectId {
  const text = (request.params as Record<string, string>)[name] ?? '';
  if (!isId(text)) throw new PageError(404, t('This page does not exist.'));
  return new ObjectId(text);
}
