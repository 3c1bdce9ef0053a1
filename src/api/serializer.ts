import fastJsonStringify from 'fast-json-stringify';
import type { FastifySerializerCompiler } from 'fastify';
import { z } from 'zod';

/** The serializers by the text of their JSON schema. */
const compiled = new Map<string, ReturnType<typeof fastJsonStringify>>();

/**
 * Compiles a zod schema into a fast serializer, once for all schemas that describe the same JSON. The serializer writes
 * the fields of the schema and does not validate them: types check the answers at compile time, tests at run time.
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
  const text = JSON.stringify(jsonSchema);
  const serializer = compiled.get(text) ?? fastJsonStringify(jsonSchema as fastJsonStringify.Schema);
  compiled.set(text, serializer);
  return serializer;
};
