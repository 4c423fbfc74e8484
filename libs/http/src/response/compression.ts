// Own code instead of @fastify/compress: it turns every payload into a stream, whose bytes the limit of unread responses cannot count, and
// leaves the tag of the plain response on the compressed one.
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  crc32,
  createGzip,
  deflateRaw,
  deflateRawSync,
  gzip,
  gzipSync,
} from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addVary } from '../errors.ts';
import { isPathBelow } from '../request/head.ts';

export type Encoding = 'identity' | 'gzip' | 'br';

/** Minimum length of a response that is compressed: bytes of a buffer, UTF-16 units of a string. */
export const minCompressedLength = 1_024;
/**
 * Low levels, since responses wait for the compression: of 10,000 flags, gzip at 2 takes 3 % more bytes than at 3 and three quarters of the time,
 * and brotli at 2 a fifth more than at 4 and less than half of the time.
 */
const gzipLevel = 2;
const brotliQuality = 2;

const gzipInThread = promisify(gzip);
const brotliInThread = promisify(brotliCompress);

/**
 * Minimum length of what is compressed in another thread: bytes of a buffer, UTF-16 units of a string. The compression of anything shorter
 * in this thread takes half of the time that the way to another thread and back takes.
 */
const minThreadedLength = 32 * 1024;

/** Compresses a response: in this thread, or from `minThreadedLength` on in another one. */
export async function compress(body: Buffer | string, encoding: Exclude<Encoding, 'identity'>): Promise<Buffer> {
  const isThreaded = body.length >= minThreadedLength;
  if (encoding === 'gzip') {
    const options = { level: gzipLevel };
    return isThreaded ? gzipInThread(body, options) : gzipSync(body, options);
  }
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
  };
  return isThreaded ? brotliInThread(body, { params }) : brotliCompressSync(body, { params });
}

/**
 * Whether a client names an encoding as acceptable in `Accept-Encoding` (RFC 9110, 12.5.3). The wildcard `*` is ignored: a client that
 * sends only this gets responses without an encoding.
 */
function accepts(header: string, encoding: string): boolean {
  return header.split(',').some((item) => {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

/** The encoding for a client by its `Accept-Encoding`: gzip where it accepts both, since clients decode gzip faster than brotli. */
export function acceptedEncoding(header: string | string[] | undefined): Encoding {
  if (typeof header !== 'string') return 'identity';
  if (accepts(header, 'gzip')) return 'gzip';
  return accepts(header, 'br') ? 'br' : 'identity';
}

/** The encoding in which `compressResponses` sends a JSON response. */
export function jsonEncodingFor(json: string, { headers }: Pick<FastifyRequest, 'headers'>): Encoding {
  return json.length < minCompressedLength ? 'identity' : acceptedEncoding(headers['accept-encoding']);
}

/** The suffix of the entity tag of a response that is compressed with an encoding. Tags without a suffix contain no plus sign. */
export const entityTagSuffixOf: Readonly<Record<Encoding, string>> = { identity: '', gzip: '+gzip', br: '+br' };

/** An entity tag that a client sent, without the suffix of an encoding: the part that the tags of a response share in all encodings. */
export function withoutEntityTagSuffix(tag: string): string {
  return tag.replace(/\+(?:gzip|br)$/, '');
}

const compressibleTypes = /^(?:text\/(?!event-stream)|application\/(?:json|problem\+json|javascript|yaml)|image\/svg)/;
const compressedPaths = ['/api', '/docs', '/ofrep'];

function isCompressible(request: FastifyRequest, reply: FastifyReply): boolean {
  return (
    request.method !== 'HEAD' &&
    // A partial response has a range of the bytes of the uncompressed file.
    reply.statusCode !== 206 &&
    reply.getHeader('content-encoding') === undefined &&
    compressibleTypes.test(String(reply.getHeader('content-type') ?? '')) &&
    compressedPaths.some((prefix) => isPathBelow(prefix, request.raw.url ?? ''))
  );
}

/** Sets the headers of a response whose body is encoded. */
export function setEncoding(reply: FastifyReply, encoding: Encoding): void {
  reply.header('content-encoding', encoding).removeHeader('content-length');
  const tag = reply.getHeader('etag');
  // A weak tag stays as it is: it stands for equivalent responses, whatever their bytes.
  if (typeof tag !== 'string' || tag.startsWith('W/')) return;
  reply.header('etag', `${tag.slice(0, -1)}${entityTagSuffixOf[encoding]}"`);
}

/** Compresses the responses below `/api`, `/docs` and `/ofrep` from `minCompressedLength` on, for clients that accept it. */
export function compressResponses(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const length =
      typeof payload === 'string' || Buffer.isBuffer(payload)
        ? payload.length
        : payload instanceof Readable
          ? Number(reply.getHeader('content-length') ?? 0)
          : 0;
    if (length < minCompressedLength || !isCompressible(request, reply)) return done(null, payload);
    addVary(reply, 'Accept-Encoding');
    const encoding = acceptedEncoding(request.headers['accept-encoding']);
    if (encoding === 'identity') return done(null, payload);
    if (payload instanceof Readable) {
      // Files are compressed while they are streamed, with gzip only: every browser accepts it.
      if (encoding !== 'gzip') return done(null, payload);
      setEncoding(reply, encoding);
      const zip = createGzip({ level: gzipLevel });
      // `pipeline` ends both streams when one fails. Its callback has nothing to do: Fastify handles the error of the stream that it sends.
      pipeline(payload, zip, () => undefined);
      return done(null, zip);
    }
    compress(payload as string | Buffer, encoding).then(
      (body) => {
        setEncoding(reply, encoding);
        done(null, body);
      },
      (error: unknown) => done(error as Error),
    );
  });
}

/** A part of a gzip stream that was compressed apart from what follows it. */
export interface GzipPart {
  /** raw deflate blocks that end at a byte, none of them the last one of a stream */
  readonly deflated: Buffer;
  /** the CRC-32 and the length of the plain bytes */
  readonly crc: number;
  readonly length: number;
}

/** Parts are compressed once and sent many times, so their compression may take longer than that of responses to one request. */
const level = 6;
const deflateInThread = promisify(deflateRaw);

/** How many bytes back deflate refers to. */
export const gzipWindow = 32 * 1024;

/** @param before the bytes that precede the part in the stream, to which it refers: it is good after these alone */
export async function gzipPart(bytes: Buffer, before?: Buffer): Promise<GzipPart> {
  const options = {
    level,
    finishFlush: constants.Z_SYNC_FLUSH,
    ...(before === undefined ? {} : { dictionary: before.subarray(-gzipWindow) }),
  };
  const deflated =
    bytes.length < minThreadedLength ? deflateRawSync(bytes, options) : await deflateInThread(bytes, options);
  return {
    // A copy: the result of zlib may be the beginning of a buffer that is several times as long.
    deflated: Buffer.from(deflated),
    crc: crc32(bytes),
    length: bytes.length,
  };
}

/** The polynomial of CRC-32, reflected: the highest bit is the coefficient of x⁰ (RFC 1952, 8). */
const polynomial = 0xed_b8_83_20;

/** The product of two polynomials modulo that of CRC-32. */
function product(one: number, other: number): number {
  let [sum, shifted] = [0, other];
  for (let bit = 0x80_00_00_00; bit !== 0; bit >>>= 1) {
    if ((one & bit) !== 0) sum ^= shifted;
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ polynomial;
  }
  return sum >>> 0;
}

/** x to the power of 8 times a number of bytes, modulo the polynomial. */
function powerOf(bytes: number): number {
  let [power, square] = [0x80_00_00_00, 0x00_80_00_00];
  for (let exponent = bytes; exponent > 0; exponent = Math.floor(exponent / 2)) {
    if (exponent % 2 === 1) power = product(power, square);
    square = product(square, square);
  }
  return power;
}

const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty block that is the last one of a stream. */
const lastBlock = Buffer.from([3, 0]);

/** One gzip stream (RFC 1952) of the bytes of all parts, in their order. */
export function joinGzip(parts: readonly GzipPart[]): Buffer {
  let [crc, length] = [0, 0];
  for (const part of parts) {
    crc = (product(powerOf(part.length), crc) ^ part.crc) >>> 0;
    length += part.length;
  }
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(length % 2 ** 32, 4);
  return Buffer.concat([gzipHeader, ...parts.map((part) => part.deflated), lastBlock, trailer]);
}
