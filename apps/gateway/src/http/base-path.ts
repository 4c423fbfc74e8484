import type { IncomingMessage } from 'node:http';
import { isPathBelow, withoutBasePath } from '@bunting/http';
import type { GatewayConfig } from '../config.ts';
import { reservedPrefixes } from './console.ts';

type Settings = Pick<GatewayConfig, 'GATEWAY_PUBLIC_URL'>;

/**
 * The path below which browsers reach Bunting, such as `/bunting`: that of GATEWAY_PUBLIC_URL; empty without one.
 * @throws Error for a path that is one of Bunting's own, or has characters that an address cannot have as they are
 */
export function basePathOf({ GATEWAY_PUBLIC_URL: publicUrl }: Settings): string {
  if (!URL.canParse(publicUrl)) return '';
  const path = new URL(publicUrl).pathname.replace(/\/+$/, '');
  if (path === '') return '';
  if (!/^(\/[\w.~-]+)+$/.test(path))
    throw new Error(`GATEWAY_PUBLIC_URL may have letters, digits and . _ ~ - in its path only, and has ${path}.`);
  if (reservedPrefixes.some((prefix) => isPathBelow(prefix, path)))
    throw new Error(
      `The path of GATEWAY_PUBLIC_URL is where the console is, and ${path} is a path of Bunting's own: leave it out, or choose another one.`,
    );
  return path;
}

/** Takes the base path from the URL of a request. Proxies that take it away themselves, and clients beside them, send none. */
export function takeBasePath(base: string): ((request: IncomingMessage) => void) | undefined {
  if (base === '') return undefined;
  return (request) => {
    request.url = withoutBasePath(request.url ?? '/', base);
  };
}

const maxPageLength = 1_000;

/**
 * The path of a page that somebody wants to get to, below the base path, which may be left out of it: other applications of the origin are no
 * pages of Bunting. The first page for a URL that could lead to another origin.
 */
export function pathOfPage(requested: string | null, basePath: string): string {
  const home = `${basePath}/`;
  const base = 'http://own.invalid';
  if (requested === null || requested.length > maxPageLength || !/^\/(?![/\\])/.test(requested)) return home;
  if (!URL.canParse(requested, base)) return home;
  const { origin, pathname, search, hash } = new URL(requested, base);
  const path = `${pathname}${search}${hash}`;
  if (origin !== base || !/^\/(?![/\\])/.test(path)) return home;
  return pathname === basePath || pathname.startsWith(home) ? path : `${basePath}${path}`;
}
