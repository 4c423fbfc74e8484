import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { entityTagOf, isNotModified, isPathBelow } from '@bunting/http';

/** Where `npm run build -w @bunting/console` writes the console. */
export const builtConsoleFolder = path.join(import.meta.dirname, '..', '..', '..', 'console', 'dist', 'web');

/** Unknown paths below these prefixes get 404 in a browser too, instead of the page of the console. */
export const reservedPrefixes = [
  '/api',
  '/auth',
  '/console',
  '/docs',
  '/edge',
  '/health',
  '/internal-backstage',
  '/invite',
  '/logout',
  '/metrics',
  '/ofrep',
  '/ready',
  '/scim',
];

/** The style elements that React Aria adds: `touch-action` of pressable elements, and `overscroll-behavior` below a dialog on iOS. */
const reactAriaStyles = [
  "'sha256-38RhXrc7EdReTKsOm23ZPOCUgniTUUcjky8QOOrQx6o='",
  "'sha256-gYiS/BvZvRcK27JIXTuwhZ3hs2+VJ1X+2gUlE+farlg='",
].join(' ');

// Loads nothing from other origins, and runs no inline script. Forms are sent by scripts only.
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'self' ${reactAriaStyles}`,
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const immutableCacheControl = 'public, max-age=31536000, immutable';

function acceptsHtml({ headers }: FastifyRequest): boolean {
  return /\btext\/html\b/i.test(headers.accept ?? '');
}

const pageRoute = '/*';

/** Whether a request that was routed to the page of the console accepts no HTML: its path is unknown. */
export function isUnknownPath(request: FastifyRequest): boolean {
  return request.routeOptions.url === pageRoute && !asksForPage(request);
}

function asksForPage(request: FastifyRequest): boolean {
  return acceptsHtml(request) && !reservedPrefixes.some((prefix) => isPathBelow(prefix, request.raw.url ?? ''));
}

/** Leads to the documentation, in a sentence as well for who follows no redirect. */
function toDocumentation(reply: FastifyReply, basePath: string): FastifyReply {
  return reply
    .code(302)
    .header('location', `${basePath}/docs`)
    .type('text/plain; charset=utf-8')
    .send(`This is Bunting. Its console is for browsers; its API is described at ${basePath}/docs.\n`);
}

/** The page of the console with its files, and what it asks the API, below a base path. */
async function pageBelow(basePath: string, folder: string): Promise<string> {
  const page = await readFile(path.join(folder, 'index.html'), 'utf8');
  return page
    .replaceAll('="/console/', `="${basePath}/console/`)
    .replace('data-base-path=""', `data-base-path="${basePath}"`);
}

export interface ConsoleOptions {
  readonly folder: string;
  /** the path below which browsers reach Bunting, without a final slash */
  readonly basePath: string;
  readonly inform: (message: string) => void;
}

/**
 * Serves the built console: its files below /console with names that change with their content, and its page to browsers that navigate to
 * any path that is not reserved. Other clients still get the JSON 404 of an unknown path, and a redirect from `/` to /docs. Without a built
 * console only that redirect is mounted, and `inform` receives one line with the command that builds the console.
 */
export function mountConsole(app: FastifyInstance, { folder, basePath, inform }: ConsoleOptions): void {
  if (!existsSync(path.join(folder, 'index.html'))) {
    inform(`No console is served: ${folder} is missing. npm run build -w @bunting/console builds it.`);
    app.get('/', async (_request, reply) => toDocumentation(reply, basePath));
    return;
  }
  const filesFolder = path.join(folder, 'console');
  void app.register(fastifyStatic, {
    root: filesFolder,
    prefix: '/console/',
    index: false,
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply, file) =>
      void reply.header('cache-control', path.dirname(file) === filesFolder ? immutableCacheControl : 'no-cache'),
  });
  const sendPage = async ({ headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    void reply.header('content-security-policy', contentSecurityPolicy);
    void reply.header('vary', 'accept');
    if (basePath === '') return reply.sendFile('index.html', folder);
    const page = await pageBelow(basePath, folder);
    const tag = entityTagOf(page, undefined);
    void reply.header('etag', `"${tag}"`).header('cache-control', 'no-cache');
    if (isNotModified(headers, tag)) return reply.code(304).send();
    return reply.type('text/html; charset=utf-8').send(page);
  };
  app.get('/', async (request, reply) =>
    acceptsHtml(request) ? sendPage(request, reply) : toDocumentation(reply, basePath),
  );
  app.get(pageRoute, async (request, reply) => {
    if (asksForPage(request)) return sendPage(request, reply);
    reply.callNotFound();
    return reply;
  });
}
