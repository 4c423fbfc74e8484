import { isIPv6 } from 'node:net';

/**
 * The key under which limits count a client's address: all IPv6 addresses of one /64 network share one budget, since one client can have
 * the whole network.
 */
export const clientNetwork = (address: string): string => {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail] = address.split('::');
  const headGroups = head === '' ? [] : head.split(':');
  const tailGroups = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeroCount = tail === undefined ? 0 : Math.max(0, 8 - headGroups.length - tailGroups.length);
  return [...headGroups, ...Array<string>(zeroCount).fill('0'), ...tailGroups].slice(0, 4).join(':');
};
