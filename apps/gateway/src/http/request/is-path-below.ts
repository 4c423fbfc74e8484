const originPrefix = /^https?:\/\/[^/?#]*/i;
const asciiEscape = /%([0-7][0-9a-f])/gi;

/**
 * Whether a URL is below a path. The URL is read at least as leniently as the router reads it, with percent-encoded characters, repeated
 * slashes, and an origin as proxies send it, so that no URL that the router accepts below the path is missed.
 */
export const isPathBelow = (prefix: string, url: string): boolean => {
  const [path = ''] = url.replace(originPrefix, '').split(/[?#]/, 1);
  const decoded = path.includes('%')
    ? path.replace(asciiEscape, (_escape, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : path;
  const normalised = decoded.replace(/\/{2,}/g, '/');
  return normalised === prefix || normalised.startsWith(`${prefix}/`);
};
