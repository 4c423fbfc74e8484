import { invalid } from '@bunting/contracts';
import ipaddr from 'ipaddr.js';

/** The addresses beyond public ones that events may be sent to. */
export interface AllowedAddresses {
  /** Whether a host of a URL is named, however it resolves. */
  readonly hasHost: (host: string) => boolean;
  /** Whether an IP address is named, or within a named network. */
  readonly hasAddress: (address: string) => boolean;
}

const bracketed = /^\[(.*)\]$/;

/** An IP address, with a mapped IPv4 address in IPv6 as IPv4; undefined for anything else. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const address = text.replace(bracketed, '$1');
  return ipaddr.isValid(address) ? ipaddr.process(address) : undefined;
}

/** Parses the setting `INTEGRATIONS_ALLOWED_HOSTS`. @throws Error that names what is neither a host nor a network */
export function allowedAddresses(setting: string): AllowedAddresses {
  const entries = setting.split(',').flatMap((entry) => entry.trim().toLowerCase() || []);
  const networks: [ipaddr.IPv4 | ipaddr.IPv6, number][] = [];
  const hosts = new Set<string>();
  for (const entry of entries) {
    const address = parseAddress(entry);
    if (entry.includes('/')) networks.push(ipaddr.parseCIDR(entry));
    else if (address !== undefined) networks.push([address, address.kind() === 'ipv4' ? 32 : 128]);
    else hosts.add(entry);
  }
  return {
    hasHost: (host) => hosts.has(host.toLowerCase()),
    hasAddress: (text) => {
      const address = parseAddress(text);
      return (
        address !== undefined &&
        networks.some((network) => network[0].kind() === address.kind() && address.match(network as never))
      );
    },
  };
}

/** IPv6 addresses of the internet are within 2000::/3. */
const globalIpv6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/**
 * Whether an IP address is one of the internet: no loopback, private, link-local, shared, multicast or reserved one, and none that embeds an
 * IPv4 address for a translator or a tunnel.
 */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  if (address === undefined || address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(globalIpv6);
}

/** Whether events may be sent to an IP address to which a host has resolved. */
export function isAllowedAddress(address: string, host: string, allowed: AllowedAddresses): boolean {
  return isPublicAddress(address) || allowed.hasHost(host) || allowed.hasAddress(address);
}

/** Names that resolve to the machine itself or to its network wherever they are asked for. */
const localName = /(^|\.)(localhost|local|localdomain|internal|intranet|lan|home|corp|home\.arpa)\.?$/;

/** A connection by TLS to a host and a port, without a protocol above it that a URL could name. */
const tlsScheme = /^tls:/i;

/** Parses an address with the scheme `tls`; undefined if it is none. @throws TypeError if it is no URL */
export function tlsAddress(text: string): { readonly host: string; readonly port: string } | undefined {
  if (!tlsScheme.test(text)) return undefined;
  const { hostname, port } = new URL(text.replace(tlsScheme, 'https:'));
  return { host: hostname.replace(bracketed, '$1'), port };
}

/**
 * Why events may not be sent to a URL, whatever its host resolves to; undefined if they may. A host name is also checked when it is
 * resolved, for each connection.
 */
export function urlFault(text: string, allowed: AllowedAddresses, scheme: 'http' | 'tls' = 'http'): string | undefined {
  // The parser of URLs reads every notation of an IPv4 address: 0x7f.1, 2130706433 and 0177.0.0.1 are 127.0.0.1. It does so with a scheme that
  // it knows alone.
  const isTls = tlsScheme.test(text);
  const url = URL.parse(isTls ? text.replace(tlsScheme, 'https:') : text);
  if (url === null) return 'must be an absolute URL';
  if (scheme === 'tls' && !isTls) return 'must be an address like tls://host:6514';
  if (scheme === 'http' && (isTls || (url.protocol !== 'https:' && url.protocol !== 'http:')))
    return 'must be an http or https address';
  if (scheme === 'tls' && (url.pathname !== '/' || url.search !== '' || url.hash !== ''))
    return 'must have a host and a port alone';
  if (url.username !== '' || url.password !== '') return 'must not have a user name or a password';
  const host = url.hostname.toLowerCase();
  if (host === '') return 'must have a host';
  const isIpAddress = parseAddress(host) !== undefined;
  if (isIpAddress ? isAllowedAddress(host, host, allowed) : allowed.hasHost(host)) return undefined;
  if (isIpAddress || localName.test(host) || !host.includes('.'))
    return 'must be an address of the internet: private ones are refused unless INTEGRATIONS_ALLOWED_HOSTS names them';
  return undefined;
}

/** @throws Refusal `ValidationError` for a URL to which events may not be sent */
export function requireAllowedUrl(
  url: string,
  allowed: AllowedAddresses,
  path: string,
  scheme: 'http' | 'tls' = 'http',
): void {
  const fault = urlFault(url, allowed, scheme);
  if (fault !== undefined) throw invalid(`The \`${path}\` property ${fault}.`, path);
}
