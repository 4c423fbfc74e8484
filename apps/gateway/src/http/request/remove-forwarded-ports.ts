import type { IncomingHttpHeaders } from 'node:http';

const withoutPort = (entry: string): string =>
  entry
    .trim()
    .replace(/^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/, '$1')
    .replace(/^\[([\da-f:.]+)\](?::\d{1,5})?$/i, '$1');

/**
 * Removes the ports that some proxies, such as Azure Application Gateway, append to the addresses in `X-Forwarded-For`. With its port, each
 * connection of a client would count as a client of its own, and no address would match a trusted network.
 */
export const removeForwardedPorts = (headers: IncomingHttpHeaders): void => {
  const forwarded = headers['x-forwarded-for'];
  if (typeof forwarded !== 'string' || !forwarded.includes(':')) return;
  headers['x-forwarded-for'] = forwarded.split(',').map(withoutPort).join(', ');
};
