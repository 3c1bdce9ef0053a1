import fastJsonStringify from 'fast-json-stringify';
import type { FastifySerializerCompiler } from 'fastify';
import { z } from 'zod';

/**
 * Compiles a zod schema into a fast serializer. It writes the fields of the schema and does not validate them: types check
 * the answers at compile time, tests at run time.
 */
export const compileSerializer: FastifySerializerCompiler<z.ZodType> = ({ schema }) => {
  const jsonSchema = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'output',
    override({ jsonSchema }) {
      // fast-json-stringify would check union members against these for every answer.
      delete jsonSchema.pattern;
      delete jsonSchema.format;
    },
  });
  return fastJsonStringify(jsonSchema as fastJsonStringify.Schema);
};
