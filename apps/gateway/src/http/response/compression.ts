// Own code instead of @fastify/compress: it turns every payload into a stream, whose bytes the limit of unread responses cannot count, and
// leaves the tag of the plain response on the compressed one.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, constants, createGzip, gzip, gzipSync } from 'node:zlib';
import { addVary } from '../errors/http-errors.ts';
import { isPathBelow } from '../request/is-path-below.ts';

export type Encoding = 'identity' | 'gzip' | 'br';

/** Shorter responses, in bytes, are not compressed. */
export const compressedFrom = 1_024;
/**
 * Low levels, since responses wait for the compression: of 10,000 flags, gzip at 2 takes 3 % more bytes than at 3 and three quarters of the time,
 * and brotli at 2 a fifth more than at 4 and less than half of the time.
 */
const gzipLevel = 2;
const brotliQuality = 2;

const gzipped = promisify(gzip);
const brotlied = promisify(brotliCompress);

/** Shorter texts, in bytes, are compressed in this thread, which takes half of what it takes to hand them to another one and back. */
export const threadedFrom = 32 * 1024;

/** Compresses long responses in another thread. */
export const compress = async (body: Buffer | string, encoding: Exclude<Encoding, 'identity'>): Promise<Buffer> => {
  const isThreaded = body.length >= threadedFrom;
  if (encoding === 'gzip') {
    const options = { level: gzipLevel };
    return isThreaded ? gzipped(body, options) : gzipSync(body, options);
  }
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
  };
  return isThreaded ? brotlied(body, { params }) : brotliCompressSync(body, { params });
};

/** Whether a client accepts an encoding (RFC 9110, 12.5.3). */
const accepts = (header: string, encoding: string): boolean =>
  header.split(',').some((item) => {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });

/** The encoding for a client by its `Accept-Encoding`: gzip where it accepts both, since the client decodes it faster. */
export const encodingOf = (header: string | string[] | undefined): Encoding => {
  if (typeof header !== 'string') return 'identity';
  if (accepts(header, 'gzip')) return 'gzip';
  return accepts(header, 'br') ? 'br' : 'identity';
};

/** The encoding of a JSON response to a request below the compressed paths. */
export const encodingFor = (json: string, { headers }: Pick<FastifyRequest, 'headers'>): Encoding =>
  json.length < compressedFrom ? 'identity' : encodingOf(headers['accept-encoding']);

/** What follows the tag of a response in an encoding. No tag of a resource contains a plus. */
export const tagSuffixOf: Readonly<Record<Encoding, string>> = { identity: '', gzip: '+gzip', br: '+br' };

/** The tag that a response has in all encodings, of one that a client sent. */
export const withoutTagSuffix = (tag: string): string => tag.replace(/\+(?:gzip|br)$/, '');

const compressible = /^(?:text\/(?!event-stream)|application\/(?:json|problem\+json|javascript|yaml)|image\/svg)/;
const prefixes = ['/api', '/docs', '/ofrep'];

const isCompressible = (request: FastifyRequest, reply: FastifyReply): boolean =>
  request.method !== 'HEAD' &&
  // A range is one of the bytes of the plain response.
  reply.statusCode !== 206 &&
  reply.getHeader('content-encoding') === undefined &&
  compressible.test(String(reply.getHeader('content-type') ?? '')) &&
  prefixes.some((prefix) => isPathBelow(prefix, request.raw.url ?? ''));

const setEncoding = (reply: FastifyReply, encoding: Encoding): void => {
  reply.header('content-encoding', encoding).removeHeader('content-length');
  const tag = reply.getHeader('etag');
  // A weak tag stands for equivalent responses, whatever their bytes.
  if (typeof tag !== 'string' || tag.startsWith('W/')) return;
  reply.header('etag', `${tag.slice(0, -1)}${tagSuffixOf[encoding]}"`);
};

/** Compresses the responses below `/api`, `/docs` and `/ofrep` of a KiB and more, for clients that accept it. */
export const compressResponses = (app: FastifyInstance): void => {
  app.addHook('onSend', (request, reply, payload, done) => {
    const length =
      typeof payload === 'string' || Buffer.isBuffer(payload)
        ? payload.length
        : payload instanceof Readable
          ? Number(reply.getHeader('content-length') ?? 0)
          : 0;
    if (length < compressedFrom || !isCompressible(request, reply)) return done(null, payload);
    addVary(reply, 'Accept-Encoding');
    const encoding = encodingOf(request.headers['accept-encoding']);
    if (encoding === 'identity') return done(null, payload);
    if (payload instanceof Readable) {
      // Files are compressed while they are streamed, with the encoding that every client accepts.
      if (encoding !== 'gzip') return done(null, payload);
      setEncoding(reply, encoding);
      const zip = createGzip({ level: gzipLevel });
      // Ends one with the other; what went wrong is an error of the response.
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
};
