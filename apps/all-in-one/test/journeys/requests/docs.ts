import { httpOperations } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/expectations.ts';
import type { Platform } from '../../support/platform.ts';

/** The documentation of the platform, which needs no token. */
export const describeDocs = (platform: () => Platform): void => {
  describe('the description of the API', () => {
    const get = (path: string) =>
      platform().api<{ [member: string]: unknown }>('GET', path, undefined, { authorization: null });

    it('is OpenAPI 3.1 and contains every operation under its path', async () => {
      const { status, body } = await get('/docs/openapi.json');
      expect(status).toBe(200);
      expect(body['openapi']).toMatch(/^3\.1\.\d$/);
      const paths = body['paths'] as Record<string, Record<string, { operationId: string; deprecated?: boolean }>>;
      for (const { http, operationId, deprecated } of httpOperations) {
        if (http === undefined) continue;
        const path = http.url.replaceAll(/:(\w+)/g, '{$1}');
        expect(paths[path]?.[http.method.toLowerCase()]).toMatchObject({
          operationId,
          ...(deprecated && { deprecated }),
        });
      }
    });

    it('has a web page that loads nothing from other hosts', async () => {
      const page = await get('/docs');
      const html = page.status >= 300 && page.status < 400 ? await get(page.headers.get('location') as string) : page;
      expect(html.status).toBe(200);
      expect(html.headers.get('content-type')).toMatch(/^text\/html/);
      const references = [...html.text.matchAll(/<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)="([^"]+)"/g)];
      const base = new URL('/docs/', platform().url);
      for (const [, reference = ''] of references) {
        if (reference.startsWith('data:')) continue;
        const address = new URL(reference, base);
        expect(address.origin).toBe(base.origin);
        expect((await get(address.pathname)).status).toBe(200);
      }
    });
  });

  describe('the health endpoint', () => {
    it('needs no token, unlike all other endpoints', async () => {
      for (const path of ['/health', '/health/live', '/health/ready']) {
        const { status, body } = await platform().api('GET', path, undefined, { authorization: null });
        expect({ path, status, body }).toEqual({ path, status: 200, body: { health: 'GOOD' } });
      }
      const other = await platform().api('GET', '/health/nosuch', undefined, { authorization: null });
      expectRefusal(other, 404, 'NotFoundError');
    });
  });
};
