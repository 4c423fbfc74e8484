import { isIPv6 } from 'node:net';

/** The key that limits count an address under: IPv6 addresses of one /64 network, which has 2^64 of them, share one budget. */
export const clientNetwork = (address: string): string => {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length);
  return [...first, ...Array<string>(zeros).fill('0'), ...last].slice(0, 4).join(':');
};
