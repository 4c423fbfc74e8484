import { randomBytes, randomInt } from 'node:crypto';
import { get, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { implement, JsonText } from '@bunting/bus';
import { GetFeature } from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { gzipPart, joinGzip } from '@bunting/http';
import { adminToken, startedGateway } from '../started-gateway.ts';

describe('compression over HTTP', () => {
  const featurePath = '/api/admin/projects/default/features';

  const gateway = startedGateway();
  beforeAll(() =>
    gateway.behind([
      implement(GetFeature, async (request) => {
        request.setHeader('ETag', '"7"');
        const description = 'ü'.repeat(request.params.featureName === 'large' ? 5_000 : 5);
        return new JsonText(JSON.stringify({ name: 'one', project: 'default', description }));
      }),
    ]),
  );

  interface EncodedResponse {
    readonly status: number | undefined;
    readonly headers: IncomingHttpHeaders;
    readonly body: Buffer;
  }

  /** A response whose body is not decoded. */
  const send = (
    path: string,
    accepted: string,
    more: Record<string, string> = {},
    method = 'GET',
  ): Promise<EncodedResponse> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: adminToken, 'accept-encoding': accepted, ...more };
      get(`${gateway.url}${path}`, { headers, agent: false, method }, (response) => {
        const { statusCode: status, headers: received } = response;
        buffer(response).then((body) => resolve({ status, headers: received, body }), reject);
      }).once('error', reject);
    });

  const decoded = ({ headers, body }: EncodedResponse): string => {
    const encoding = headers['content-encoding'];
    return (encoding === 'gzip' ? gunzipSync(body) : encoding === 'br' ? brotliDecompressSync(body) : body).toString();
  };

  describe('a response of a KiB and more', () => {
    it.each([`${featurePath}/large`, '/docs/openapi.json'])(
      'of %s is compressed as the client takes it',
      async (path) => {
        const plain = await send(path, 'identity');
        const [zipped, brotli] = [await send(path, 'gzip, br'), await send(path, 'br')];
        expect([plain, zipped, brotli].map(({ headers }) => headers['content-encoding'])).toEqual([
          undefined,
          'gzip',
          'br',
        ]);
        for (const answer of [plain, zipped, brotli]) {
          expect(decoded(answer)).toBe(plain.body.toString());
          expect([answer.headers.vary, Number(answer.headers['content-length'])]).toEqual([
            expect.stringContaining('Accept-Encoding'),
            answer.body.length,
          ]);
        }
        expect(zipped.body.length).toBeLessThan(plain.body.length / 3);
        const tags = [plain, zipped, brotli].map(({ headers: { etag = '' } }) => etag);
        expect(new Set(tags).size).toBe(3);
        // A client sends back the tag that it got, whatever it accepts now.
        for (const tag of tags) {
          expect((await send(path, 'gzip', { 'if-none-match': tag })).status).toBe(304);
          expect((await send(path, 'identity', { 'if-match': tag })).status).toBe(200);
        }
        expect((await send(path, 'gzip', { 'if-match': '"other+gzip"' })).status).toBe(412);
      },
    );

    it('is compressed as it is read from a file', async () => {
      const path = '/docs/assets/swagger-ui.css';
      const [plain, zipped] = [await send(path, 'identity'), await send(path, 'gzip')];
      expect([plain.headers['content-encoding'], zipped.headers['content-encoding']]).toEqual([undefined, 'gzip']);
      expect(decoded(zipped)).toBe(plain.body.toString());
    });

    it('is not compressed where the client asks for a range of its bytes', async () => {
      const path = '/docs/assets/swagger-ui.css';
      const { body } = await send(path, 'identity');
      const range = await send(path, 'gzip', { range: 'bytes=100-9999' });
      expect([range.status, range.headers['content-encoding']]).toEqual([206, undefined]);
      expect(range.body.equals(body.subarray(100, 10_000))).toBe(true);
    });

    it('to a HEAD request has no body', async () => {
      const { status, body } = await send('/docs/openapi.json', 'gzip', {}, 'HEAD');
      expect([status, body.length]).toEqual([200, 0]);
    });
  });

  it('leaves a response of less than a KiB as it is', async () => {
    const { headers, body } = await send(`${featurePath}/small`, 'gzip');
    expect([headers['content-encoding'], headers.vary]).toEqual([undefined, undefined]);
    expect(JSON.parse(body.toString())).toMatchObject({ name: 'one' });
  });
});

const textOf = (length: number): Buffer =>
  Buffer.from('a flag of many '.repeat(Math.ceil(length / 15))).subarray(0, length);

describe('a gzip stream of parts', () => {
  it('is decoded to the bytes of all parts, whatever their lengths', async () => {
    for (const lengths of [
      [],
      [0],
      [1],
      [0, 0, 7],
      [1, 2, 3],
      [40_000],
      [40_000, 0, 1, 100_000],
      [65_535, 65_536, 65_537],
    ]) {
      const texts = lengths.map(textOf);
      const joined = joinGzip(await Promise.all(texts.map((text) => gzipPart(text))));
      expect(gunzipSync(joined).equals(Buffer.concat(texts))).toBe(true);
    }
  });

  it('is decoded to the bytes of all parts, in any order and repeated', async () => {
    const texts = Array.from({ length: 40 }, () =>
      Buffer.concat([randomBytes(randomInt(2_000)), textOf(randomInt(50_000))]),
    );
    const parts = await Promise.all(texts.map((text) => gzipPart(text)));
    for (let round = 0; round < 20; round++) {
      const order = Array.from({ length: randomInt(1, 60) }, () => randomInt(texts.length));
      const joined = joinGzip(order.map((nth) => parts[nth]!));
      expect(gunzipSync(joined).equals(Buffer.concat(order.map((nth) => texts[nth]!)))).toBe(true);
    }
  });

  it('is decoded to the bytes of all parts, also where each refers to the one before it', async () => {
    const texts = Array.from({ length: 20 }, () =>
      Buffer.concat([textOf(randomInt(50_000)), randomBytes(randomInt(500))]),
    );
    const parts = await Promise.all(texts.map((text, nth) => gzipPart(text, texts[nth - 1])));
    expect(gunzipSync(joinGzip(parts)).equals(Buffer.concat(texts))).toBe(true);
  });

  it('is refused by decoders when a part was changed', async () => {
    const parts = await Promise.all(['one', 'two'].map((text) => gzipPart(Buffer.from(text))));
    const broken = joinGzip(parts.map((part, nth) => (nth === 0 ? { ...part, crc: part.crc ^ 1 } : part)));
    expect(() => gunzipSync(broken)).toThrow('incorrect data check');
  });
});
