import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as the collector has received it. */
export interface ReceivedSpan {
  /** `service.name` of its process */
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  /** empty for the first span of a trace */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly failed: boolean;
}

type Field = Buffer | bigint;
/** The values of each field of a protobuf message, by the field's number. */
type Message = ReadonlyMap<number, readonly Field[]>;

/** Parses a protobuf message without its schema. */
const parseMessage = (bytes: Buffer): Message => {
  const fields = new Map<number, Field[]>();
  let offset = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(offset++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const readBytes = (length: number): Buffer => bytes.subarray(offset, (offset += length));
  while (offset < bytes.length) {
    const tag = Number(varint());
    const wireType = tag & 7;
    const values = fields.get(tag >> 3) ?? [];
    fields.set(tag >> 3, values);
    if (wireType === 0) values.push(varint());
    else if (wireType === 1) values.push(readBytes(8));
    else if (wireType === 2) values.push(readBytes(Number(varint())));
    else if (wireType === 5) values.push(readBytes(4));
    else throw new Error(`Protobuf has no wire type ${wireType} that spans use.`);
  }
  return fields;
};

const bytesOf = (message: Message, field: number): Buffer[] => (message.get(field) ?? []) as Buffer[];
const messagesOf = (message: Message, field: number): Message[] => bytesOf(message, field).map(parseMessage);
const textOf = (message: Message, field: number): string => bytesOf(message, field)[0]?.toString() ?? '';
const hexOf = (message: Message, field: number): string => bytesOf(message, field)[0]?.toString('hex') ?? '';

const attributesOf = (message: Message, field: number): Record<string, string> =>
  Object.fromEntries(
    messagesOf(message, field).map((pair) => {
      const value = parseMessage(bytesOf(pair, 2)[0] ?? Buffer.alloc(0));
      const [integer] = [...(value.get(2) ?? []), ...(value.get(3) ?? [])];
      return [textOf(pair, 1), integer === undefined ? textOf(value, 1) : String(integer)];
    }),
  );

const kinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
const failedStatus = 2n;

/** The spans of an ExportTraceServiceRequest, by the numbers of its fields in opentelemetry-proto 1. */
const spansOf = (request: Buffer): ReceivedSpan[] =>
  messagesOf(parseMessage(request), 1).flatMap((ofResource) => {
    const [resource] = messagesOf(ofResource, 1);
    const service = (resource === undefined ? {} : attributesOf(resource, 1))['service.name'] ?? '';
    return messagesOf(ofResource, 2)
      .flatMap((ofScope) => messagesOf(ofScope, 2))
      .map((span) => ({
        service,
        traceId: hexOf(span, 1),
        spanId: hexOf(span, 2),
        parentSpanId: hexOf(span, 4),
        name: textOf(span, 5),
        kind: kinds[Number(span.get(6)?.[0] ?? 0)] ?? '',
        attributes: attributesOf(span, 9),
        links: messagesOf(span, 13).map((link) => ({ traceId: hexOf(link, 1), spanId: hexOf(link, 2) })),
        failed: messagesOf(span, 15)[0]?.get(3)?.[0] === failedStatus,
      }));
  });

/** Starts a collector of OpenTelemetry on loopback, which receives spans by OTLP over HTTP, as protobuf. */
export const startOtlpCollector = async () => {
  const spans: ReceivedSpan[] = [];
  const requests: Buffer[] = [];
  const server: Server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces);
      if (request.method !== 'POST' || request.url !== '/v1/traces') return void response.writeHead(404).end();
      requests.push(body);
      spans.push(...spansOf(body));
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** the spans received so far */
    spans: spans as readonly ReceivedSpan[],
    /** everything received so far, as text */
    text: (): string => Buffer.concat(requests).toString('latin1'),
    stop: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
export type OtlpCollector = Awaited<ReturnType<typeof startOtlpCollector>>;
