import fastJsonStringify from 'fast-json-stringify';
import type { FastifySerializerCompiler } from 'fastify';
import { z } from 'zod';

/**
 * Compiles a zod schema into a fast serializer. It writes the fields that the schema names and checks nothing:
 * the types check our answers at compile time, the tests at run time.
 */
export const compileSerializer: FastifySerializerCompiler<z.ZodType> = ({ schema }) => {
  const jsonSchema = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'output',
    override({ jsonSchema }) {
      // What a union holds is checked against these for every answer, and they are for readers only.
      delete jsonSchema.pattern;
      delete jsonSchema.format;
    },
  });
  return fastJsonStringify(jsonSchema as fastJsonStringify.Schema);
};
