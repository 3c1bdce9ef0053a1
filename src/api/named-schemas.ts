/** The parts of an OpenAPI document that this file reads and changes. */
type Schema = { $ref: string } | { title?: string; description?: string };
type Described = { content?: Record<string, { schema?: Schema }>; headers?: Record<string, unknown> };
type Operation = { requestBody?: Described; responses?: Record<string, Described> };
type Document = {
  paths?: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema>; headers?: Record<string, unknown> };
};

const REQUEST_ID = {
  description: 'The id of this request. Include it when you report a problem.',
  schema: { type: 'string', format: 'uuid' },
};

/**
 * Moves each body schema that has a `title` to the components of the OpenAPI document, under this title: generated
 * clients use it as type name. Adds the header `X-Request-Id` to every response. Changes the paths of `document` in
 * place, and returns a shallow copy with the new components.
 */
export function nameSchemas<D extends object>(document: D): D {
  const { paths = {}, components } = document as Document;
  const schemas: Record<string, Schema> = {};
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
    const answers = Object.values(operation.responses ?? {});
    for (const { content = {} } of [operation.requestBody ?? {}, ...answers]) {
      for (const media of Object.values(content)) {
        if (!media.schema || !('title' in media.schema)) continue;
        // Several responses may share the schema, but the description belongs to one of them, so it is left out.
        const { title = '', description: _, ...schema } = media.schema;
        schemas[title] = schema;
        media.schema = { $ref: `#/components/schemas/${title}` };
      }
    }
    for (const answer of answers)
      answer.headers = { ...answer.headers, 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } };
  }
  return {
    ...document,
    components: {
      ...components,
      schemas: { ...components?.schemas, ...schemas },
      headers: { 'X-Request-Id': REQUEST_ID },
    },
  };
}
