import fastJsonStringify from 'fast-json-stringify';
import type { FastifySerializerCompiler } from 'fastify';
import { z } from 'zod';

/** By the `def` of the schema: a copy of a schema with another description has the same `def`. */
const compiled = new WeakMap<z.ZodType['def'], ReturnType<typeof compile>>();

/** The serializers do not validate: the type check and the tests make sure that answers match their schemas. */
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
      // In a union, fast-json-stringify would check patterns and formats for every answer, which costs time.
      delete jsonSchema.pattern;
      delete jsonSchema.format;
    },
  });
  return fastJsonStringify(jsonSchema as fastJsonStringify.Schema);
}
