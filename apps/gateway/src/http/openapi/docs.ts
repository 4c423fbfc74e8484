// Own page instead of @fastify/swagger-ui: the document has a fixed URL, an entity tag and a rate limit (docs/security.md, Limits), which the
// plugin's own route of the document does not have.
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, preHandlerAsyncHookHandler } from 'fastify';
import { createRequire } from 'node:module';
import path from 'node:path';
import { entityTagOf, isNotModified, jsonContentType, requireCurrentTag } from '@bunting/http';
import type { OpenApiDocument } from './openapi-document.ts';

const assets = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const servedAssets = new Set(['/swagger-ui.css', '/swagger-ui-bundle.js', '/favicon-32x32.png']);

function pageBelow(basePath: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Bunting API</title>
<link rel="icon" type="image/png" href="${basePath}/docs/assets/favicon-32x32.png">
<link rel="stylesheet" href="${basePath}/docs/assets/swagger-ui.css">
</head>
<body>
<div id="api"></div>
<noscript>This page needs JavaScript. The description itself is at ${basePath}/docs/openapi.json.</noscript>
<script src="${basePath}/docs/assets/swagger-ui-bundle.js"></script>
<script src="${basePath}/docs/page.js"></script>
</body>
</html>
`;
}

function scriptBelow(basePath: string): string {
  return `SwaggerUIBundle({
  url: '${basePath}/docs/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: 'list',
  persistAuthorization: false,
  validatorUrl: null,
});
`;
}

// Loads nothing from other origins. Swagger UI sets inline styles, and has its icons as data URLs in its style sheet.
const contentSecurityPolicy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

function setContentSecurityPolicy(reply: FastifyReply): FastifyReply {
  return reply.header('content-security-policy', contentSecurityPolicy);
}

interface DocsOptions {
  /** the path below which browsers reach Bunting, without a final slash */
  readonly basePath: string;
  readonly limit: preHandlerAsyncHookHandler;
}

export function mountDocs(app: FastifyInstance, document: OpenApiDocument, { basePath, limit }: DocsOptions): void {
  // Without a base path the document names no server: its paths are those of the server that it comes from.
  const text = JSON.stringify(basePath === '' ? document : { ...document, servers: [{ url: basePath }] });
  const [page, script] = [pageBelow(basePath), scriptBelow(basePath)];
  const [bytes, tag] = [Buffer.from(text), entityTagOf(text, undefined)];
  app.get('/docs/openapi.json', { preHandler: limit }, async ({ headers }, reply) => {
    setContentSecurityPolicy(reply).header('etag', `"${tag}"`).header('cache-control', 'no-cache');
    requireCurrentTag(headers, tag);
    if (isNotModified(headers, tag)) return reply.code(304).send();
    return reply.header('content-type', jsonContentType).send(bytes);
  });
  for (const url of ['/docs', '/docs/openapi']) {
    app.get(url, async (_request, reply) =>
      setContentSecurityPolicy(reply).header('content-type', 'text/html; charset=utf-8').send(page),
    );
  }
  app.get('/docs/page.js', async (_request, reply) =>
    setContentSecurityPolicy(reply).header('content-type', 'text/javascript; charset=utf-8').send(script),
  );
  void app.register(fastifyStatic, {
    root: assets,
    prefix: '/docs/assets/',
    decorateReply: false,
    index: false,
    allowedPath: (file) => servedAssets.has(file),
    setHeaders: (reply) => void setContentSecurityPolicy(reply),
  });
}
