/** A span as an exporter sent it. */
export type ExportedSpan = {
  traceId: string;
  spanId: string;
  /** The id of the parent span; empty for the first span of a trace. */
  parentId: string;
  name: string;
  kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  /** The start in milliseconds since 1970. */
  startedAt: number;
  endedAt: number;
  attributes: Record<string, string | number | boolean>;
  links: { traceId: string; spanId: string }[];
  isError: boolean;
  events: string[];
  /** The service name of its resource: `tallyport-web`. */
  service: string;
};

/** A field of a protobuf message: a number; or bytes, which are a text or a message. */
type Field = { field: number; value: bigint | Uint8Array };

const KINDS = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const;

/**
 * Reads the spans of an `ExportTraceServiceRequest`. Field numbers are those of opentelemetry-proto's trace.proto. It
 * shares no code with the exporter.
 */
export function decodeSpans(request: Uint8Array): ExportedSpan[] {
  return messages(fieldsOf(request), 1).flatMap((resourceSpans) => {
    const [resource] = messages(resourceSpans, 1);
    const { 'service.name': service = '' } = attributesOf(resource ?? [], 1);
    return messages(resourceSpans, 2)
      .flatMap((scopeSpans) => messages(scopeSpans, 2))
      .map((span) => spanOf(span, String(service)));
  });
}

function spanOf(span: Field[], service: string): ExportedSpan {
  const [status] = messages(span, 15);
  return {
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    parentId: hex(span, 4),
    name: text(span, 5),
    kind: KINDS[Number(number(span, 6))] ?? 'internal',
    startedAt: Number(number(span, 7)) / 1e6,
    endedAt: Number(number(span, 8)) / 1e6,
    attributes: attributesOf(span, 9),
    events: messages(span, 11).map((event) => text(event, 2)),
    links: messages(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
    isError: number(status ?? [], 3) === 2n,
    service,
  };
}

function attributesOf(message: Field[], field: number): ExportedSpan['attributes'] {
  return Object.fromEntries(
    messages(message, field).map((pair) => [text(pair, 1), anyValue(messages(pair, 2)[0] ?? [])]),
  );
}

function anyValue([any]: Field[]): string | number | boolean {
  if (!any) return '';
  const { field, value } = any;
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (field === 2) return value === 1n;
  return field === 4 ? asDouble(value) : Number(value);
}

function asDouble(bits: bigint): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, bits);
  return view.getFloat64(0);
}

function bytes(message: Field[], field: number): Uint8Array {
  const found = message.find((one) => one.field === field)?.value;
  return found instanceof Uint8Array ? found : new Uint8Array();
}

const hex = (message: Field[], field: number) => Buffer.from(bytes(message, field)).toString('hex');
const text = (message: Field[], field: number) => Buffer.from(bytes(message, field)).toString();

function number(message: Field[], field: number): bigint {
  const found = message.find((one) => one.field === field)?.value;
  return typeof found === 'bigint' ? found : 0n;
}

function messages(message: Field[], field: number): Field[][] {
  return message.flatMap((one) =>
    one.field === field && one.value instanceof Uint8Array ? [fieldsOf(one.value)] : [],
  );
}

/**
 * The fields of a protobuf message in their order (encoding: protobuf.dev). Throws if the message is incomplete or not
 * protobuf.
 */
function fieldsOf(message: Uint8Array): Field[] {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  const fields: Field[] = [];
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = view.getUint8(at);
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    const field = tag >> 3;
    switch (tag & 7) {
      case 0:
        fields.push({ field, value: varint() });
        break;
      case 1:
        fields.push({ field, value: view.getBigUint64(at, true) });
        at += 8;
        break;
      case 2: {
        const length = Number(varint());
        if (at + length > message.length) throw new RangeError('a protobuf message is cut');
        fields.push({ field, value: message.subarray(at, at + length) });
        at += length;
        break;
      }
      case 5:
        fields.push({ field, value: BigInt(view.getUint32(at, true)) });
        at += 4;
        break;
      default:
        throw new TypeError(`protobuf has no wire type ${tag & 7}`);
    }
  }
  return fields;
}
