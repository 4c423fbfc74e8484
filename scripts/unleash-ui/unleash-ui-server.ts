import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

/** The paths that the server handles; every other path is a file or a page of the user interface. */
const apiPath = /^\/(api|auth|logout|invite|health|internal-backstage)(\/|$)/;
const contentTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
};

/**
 * Serves the built user interface of Unleash from a folder, and passes requests of its API on to the server that `useServer` names: one
 * origin for the browser, like Unleash's own.
 */
export async function serveUnleashUi(folder: string) {
  const index = readFileSync(path.join(folder, 'index.html'), 'utf8')
    .replaceAll(/::(baseUriPath|cdnPrefix|faviconPrefix)::/g, '')
    .replaceAll('::uiFlags::', encodeURIComponent('{}'));
  let target = '';
  const server = createServer((incoming, response) => {
    const { pathname } = new URL(incoming.url ?? '/', 'http://localhost');
    if (apiPath.test(pathname)) {
      const { method, headers } = incoming;
      const forwarded = send(new URL(incoming.url ?? '/', target), { method, headers }, (apiResponse) => {
        response.writeHead(apiResponse.statusCode ?? 502, apiResponse.rawHeaders);
        apiResponse.pipe(response);
      });
      forwarded.once('error', () => response.destroy());
      return void incoming.pipe(forwarded);
    }
    const file = path.join(folder, path.normalize(pathname));
    if (pathname !== '/' && existsSync(file) && statSync(file).isFile()) {
      response.setHeader('content-type', contentTypes[path.extname(file)] ?? 'application/octet-stream');
      return void createReadStream(file).pipe(response);
    }
    response.setHeader('content-type', 'text/html').end(index);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    useServer: (url: string): void => {
      target = url;
    },
    stop: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
