import { describe, expect, it } from 'vitest';
import { allowedAddresses, isAllowedAddress, isPublicAddress, urlFault } from './addresses.ts';

const none = allowedAddresses('');

const hostile = [
  // no address of the web
  '',
  'not a url',
  '/path',
  '//example.org',
  'ftp://example.org/',
  'file:///etc/passwd',
  'gopher://example.org:70/',
  'javascript:alert(1)',
  'data:text/plain,x',
  'ws://example.org/',
  'unix:/var/run/docker.sock',
  'http+unix://%2Fvar%2Frun%2Fdocker.sock/',
  'http://',
  'https:///',
  'https://user:password@example.org/',
  'https://example.org@127.0.0.1/',
  // this machine
  'http://localhost/',
  'http://LOCALHOST:8080/',
  'http://localhost./',
  'http://sub.localhost/',
  'http://127.0.0.1/',
  'http://127.0.0.1:4242/api/admin',
  'http://127.1/',
  'http://127.255.255.254/',
  'http://0/',
  'http://0.0.0.0/',
  'http://0.1.2.3/',
  'http://[::1]/',
  'http://[::]/',
  'http://[0:0:0:0:0:0:0:1]/',
  // the same in other notations
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.0.0.1/',
  'http://0x7f.1/',
  'http://017700000001/',
  'http://0177.0.0.1/',
  'http://127.0.1/',
  'http://①②⑦.⓪.⓪.①/',
  'http://127。0。0。1/',
  'http://%31%32%37.0.0.1/',
  // IPv4 within IPv6
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::ffff:169.254.169.254]/',
  'http://[::ffff:10.0.0.1]/',
  'http://[::127.0.0.1]/',
  'http://[64:ff9b::127.0.0.1]/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://[64:ff9b:1::7f00:1]/',
  'http://[2002:7f00:1::]/',
  'http://[2002:a9fe:a9fe::]/',
  'http://[2001:0:7f00:1::]/',
  'http://[::ffff:0:127.0.0.1]/',
  // private networks
  'http://10.0.0.1/',
  'http://10.255.255.255/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.1.1/',
  'http://0xc0a80101/',
  'http://100.64.0.1/',
  'http://[fc00::1]/',
  'http://[fd00:ec2::254]/',
  'http://[fe80::1]/',
  'http://[fec0::1]/',
  'http://198.18.0.1/',
  'http://192.0.0.1/',
  'http://192.0.2.1/',
  'http://198.51.100.1/',
  'http://203.0.113.1/',
  'http://[2001:db8::1]/',
  'http://[100::1]/',
  // metadata of clouds
  'http://169.254.169.254/latest/meta-data/',
  'http://169.254.170.2/v2/credentials',
  'http://2852039166/',
  'http://0xa9fea9fe/',
  'http://0251.0376.0251.0376/',
  'http://metadata.google.internal/computeMetadata/v1/',
  'http://metadata/',
  // many and none
  'http://224.0.0.1/',
  'http://239.255.255.250/',
  'http://255.255.255.255/',
  'http://240.0.0.1/',
  'http://[ff02::1]/',
  // names of a local network
  'http://postgres:5432/',
  'http://nats:8222/connz',
  'http://printer.local/',
  'http://db.internal/',
  'http://router.lan/',
  'http://wiki.corp/',
  'http://nas.home.arpa/',
  'http://kubernetes.default.svc.cluster.local/',
];

/** An IPv4 address as parsers of URLs read it as well. */
function notationsOf(address: string): string[] {
  const parts = address.split('.').map(Number);
  const number = parts.reduce((sum, part) => sum * 256 + part, 0);
  const hex = number.toString(16).padStart(8, '0');
  const hosts = [
    String(number),
    `0x${hex}`,
    `0${number.toString(8)}`,
    parts.map((part) => `0x${part.toString(16)}`).join('.'),
    parts.map((part) => `0${part.toString(8)}`).join('.'),
    `${address}.`,
    address.replaceAll('.', '。'),
    address.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff_10 + Number(digit))),
    address.replaceAll(/\d/g, (digit) => `%3${digit}`),
    `[::ffff:${address}]`,
    `[::ffff:${hex.slice(0, 4)}:${hex.slice(4)}]`,
    `[64:ff9b::${address}]`,
  ];
  return hosts.map((host) => `http://${host}/`);
}
const privateAddresses =
  '0.0.0.0 10.0.0.1 100.64.0.1 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1 192.168.1.1 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255';
const notations = privateAddresses.split(' ').flatMap(notationsOf);

describe('an address of a destination', () => {
  it('with a host and a port alone is accepted with the scheme tls, and refused if it is not of the internet', () => {
    for (const url of ['tls://siem.example.org', 'TLS://siem.example.org:6514', 'tls://[2606:2800:21f::1]:6514'])
      expect(urlFault(url, none, 'tls'), url).toBeUndefined();
    const refused = hostile.map((url) => url.replace(/^https?:/, 'tls:'));
    for (const url of [
      ...refused,
      'tls://siem.example.org/x',
      'https://siem.example.org',
      'tls://u:p@siem.example.org',
    ])
      expect(urlFault(url, none, 'tls'), url).toBeTypeOf('string');
    expect(urlFault('tls://siem.example.org', none)).toBe('must be an http or https address');
  });

  it.each(hostile)('is refused if it is not of the internet: %s', (url) => {
    expect(urlFault(url, none)).toBeTypeOf('string');
  });

  it(`is refused if it is not of the internet in any of ${notations.length} notations`, () => {
    expect(new Set([...hostile, ...notations]).size).toBeGreaterThanOrEqual(200);
    for (const url of notations) expect(urlFault(url, none), url).toBeTypeOf('string');
  });

  it.each([
    'https://hooks.slack.com/services/T0/B0/x',
    'http://example.org:8080/a?b=c',
    'https://93.184.215.14/',
    'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
    'https://bücher.example.org/',
    'https://localhost.example.org/',
  ])('is accepted if it is: %s', (url) => expect(urlFault(url, none)).toBeUndefined());

  it('is accepted if the setting names its host, its address or its network, and no other is', () => {
    const allowed = allowedAddresses('chat.internal, 10.2.0.0/16, ::1, 127.0.0.1');
    for (const url of [
      'http://chat.internal/',
      'http://CHAT.internal:8065/',
      'http://10.2.3.4/',
      'http://[::1]/',
      'http://0x7f.1/',
    ])
      expect(urlFault(url, allowed)).toBeUndefined();
    for (const url of ['http://other.internal/', 'http://10.3.0.1/', 'http://127.0.0.2/', 'http://[::2]/'])
      expect(urlFault(url, allowed)).toBeTypeOf('string');
    expect(isAllowedAddress('10.9.9.9', 'chat.internal', allowed)).toBe(true);
    expect(isAllowedAddress('10.9.9.9', 'chat.example.org', allowed)).toBe(false);
  });

  it.each(['fe80::1%eth0', '::ffff:192.168.0.1', '169.254.169.254', 'no address', ''])(
    'is not public when a name resolves to %s',
    (address) => expect(isPublicAddress(address)).toBe(false),
  );

  it('is an error in the setting if it is no network', () => {
    expect(() => allowedAddresses('10.0.0.0/99')).toThrow();
  });
});
