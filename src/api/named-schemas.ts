/** What is read and changed of an OpenAPI document. */
type Schema = { $ref: string } | { title?: string; description?: string };
type Described = { content?: Record<string, { schema?: Schema }>; headers?: Record<string, unknown> };
type Operation = { requestBody?: Described; responses?: Record<string, Described> };
type Document = {
  paths?: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema>; headers?: Record<string, unknown> };
};

const REQUEST_ID = {
  description: 'Names this request: tell it when you report a fault.',
  schema: { type: 'string', format: 'uuid' },
};

/**
 * Names the schemas of an OpenAPI document: each body that has a `title` stands once, under it, among the components,
 * where generated clients find it. Gives every answer the header `X-Request-Id`. Changes `document`.
 */
export function nameSchemas<D extends object>(document: D): D {
  const { paths = {}, components } = document as Document;
  const schemas: Record<string, Schema> = {};
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
    const answers = Object.values(operation.responses ?? {});
    for (const { content = {} } of [operation.requestBody ?? {}, ...answers]) {
      for (const media of Object.values(content)) {
        if (!media.schema || !('title' in media.schema)) continue;
        // What is said of one answer stands beside it.
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
