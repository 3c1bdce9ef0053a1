import fastJsonStringify from 'fast-json-stringify';
import type { FastifySerializerCompiler } from 'fastify';
import { z } from 'zod';

/** By the definition of a schema, which its copies with another description share. */
const compiled = new WeakMap<z.ZodType['def'], ReturnType<typeof compile>>();

/**
 * Compiles a zod schema into a fast serializer, once for all routes that have it. The serializer writes the fields of the
 * schema and does not validate them: types check the answers at compile time, tests at run time.
 */
export const compileSerializer: FastifySerializerCompiler<z.ZodType> = ({ schema }) => {
  const serializer = compiled.get(schema.def) ?? compile(schema);
  compiled.set(schema.def, serializer);
  return serializer;
};

function compile(schema: z.ZodType) {
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
}
