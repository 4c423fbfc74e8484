const originPrefix = /^https?:\/\/[^/?#]*/i;
const asciiEscape = /%([0-7][0-9a-f])/gi;

/**
 * Whether a URL is below a path. Reads it at least as leniently as the router: percent-encoded characters, repeated slashes, and an
 * absolute URL as proxies send it. A URL that the router accepts below the path is never missed.
 */
export const isPathBelow = (prefix: string, url: string): boolean => {
  const [path = ''] = url.replace(originPrefix, '').split(/[?#]/, 1);
  const read = path.includes('%')
    ? path.replace(asciiEscape, (_escape, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : path;
  const plain = read.replace(/\/{2,}/g, '/');
  return plain === prefix || plain.startsWith(`${prefix}/`);
};
