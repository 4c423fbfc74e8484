import { implement, JsonText } from '@bunting/bus';
import { GetFeature } from '@bunting/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { get, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { adminToken, type StartedGateway, startGateway } from '../../../test/started-gateway.ts';

const featurePath = '/api/admin/projects/default/features';

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway();
  await gateway.behind([
    implement(GetFeature, async (request) => {
      request.setHeader('ETag', '"7"');
      const description = 'ü'.repeat(request.params.featureName === 'large' ? 5_000 : 5);
      return new JsonText(JSON.stringify({ name: 'one', project: 'default', description }));
    }),
  ]);
});
afterAll(() => gateway.stop());

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
