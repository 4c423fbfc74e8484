import { describe, expect, it } from 'vitest';
import { httpOperations } from '@bunting/contracts';
import { refusalOf } from '../../../test/access-api.ts';
import { startedGateway } from '../../../test/started-gateway.ts';
import { openApiDocument } from './openapi-document.ts';

const gateway = startedGateway();

const read = async (path: string): Promise<{ response: Response; text: string }> => {
  const response = await gateway.send(path, { key: null });
  return { response, text: await response.text() };
};

describe('the OpenAPI document', () => {
  it('is generated from the contracts and served without a token', async () => {
    const { response, text } = await read('/docs/openapi.json');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(openApiDocument(httpOperations))));
  });
});

describe('the documentation page', () => {
  it.each(['/docs', '/docs/', '/docs/openapi', '/docs/openapi/'])(
    'is served to browsers at the path %s',
    async (path) => {
      const { response, text } = await read(path);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(text).toContain('<div id="api"></div>');
    },
  );

  it('is where the path / redirects to', async () => {
    const { response } = await read('/');
    expect([response.status, response.headers.get('location')]).toEqual([302, '/docs']);
  });

  it('loads only from its own origin, by its content security policy', async () => {
    const { response, text } = await read('/docs');
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'self';/);
    expect(response.headers.get('content-security-policy')).not.toMatch(/https?:|\*|script-src/);
    expect(text).not.toMatch(/https?:|<script>|\bon\w+=/);
    const loaded = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address as string);
    expect(loaded).toHaveLength(4);
    for (const address of loaded) {
      expect(address).toMatch(/^\/docs\//);
      const asset = await read(address);
      expect([address, asset.response.status]).toEqual([address, 200]);
      expect(asset.text.length).toBeGreaterThan(100);
      expect(asset.response.headers.get('content-security-policy')).toMatch(/^default-src 'self';/);
    }
    const { text: script } = await read('/docs/page.js');
    expect(script).toContain("url: '/docs/openapi.json'");
    expect(script).not.toMatch(/https?:/);
    const { text: style } = await read('/docs/assets/swagger-ui.css');
    expect(style).not.toMatch(/url\(["']?(?:https?:)?\/\/|@import/);
  });

  it.each([
    '/docs/assets/',
    '/docs/assets/package.json',
    '/docs/assets/index.html',
    '/docs/assets/..%2f..%2fpackage.json',
    '/docs/assets/%00',
  ])('serves no file that it does not need: %s', async (path) => {
    const response = await gateway.send(path, { key: null });
    expect([400, 404]).toContain(response.status);
    await refusalOf(response);
  });
});
