import { readFileSync } from 'node:fs';

/** Returns the version of Bunting, which is that of each of its packages. */
export const buntingVersion = (): string => {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
};
