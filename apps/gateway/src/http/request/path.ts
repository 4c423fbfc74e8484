const originPrefix = /^https?:\/\/[^/?#]*/i;
const asciiEscape = /%([0-7][0-9a-f])/gi;

/**
 * Whether an address leads below a folder, read as generously as the router reads it and more so: with whatever of its path
 * is percent-encoded, with slashes to spare, and with the host before it that a proxy may put there.
 */
export const isBelow = (folder: string, url: string): boolean => {
  const [path = ''] = url.replace(originPrefix, '').split(/[?#]/, 1);
  const read = path.includes('%')
    ? path.replace(asciiEscape, (_escape, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : path;
  const plain = read.replace(/\/{2,}/g, '/');
  return plain === folder || plain.startsWith(`${folder}/`);
};
