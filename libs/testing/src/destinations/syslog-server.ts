import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import tls, { type TLSSocket } from 'node:tls';

/** A key and a certificate for 127.0.0.1 for which it vouches itself, valid for two days, or until yesterday. */
export function selfSignedCertificate({ isExpired = false } = {}): { readonly key: string; readonly cert: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'bunting-certificate-'));
  const openssl = (args: string): void =>
    void execFileSync('openssl', args.split(' '), { cwd: folder, stdio: 'ignore' });
  const request =
    '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=x -addext subjectAltName=IP:127.0.0.1 -keyout key';
  try {
    if (isExpired) {
      openssl(`req -new ${request} -out csr`);
      openssl('x509 -req -in csr -signkey key -days -1 -copy_extensions copy -out cert');
    } else openssl(`req -x509 ${request} -days 2 -out cert`);
    const read = (file: string): string => readFileSync(path.join(folder, file), 'utf8');
    return { key: read('key'), cert: read('cert') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const maxMessageBytes = 8_192;
const name = String.raw`[\x21-\x7e]`;
const sdName = String.raw`[!#-<>-\\^-~]{1,32}`;
const sdValue = String.raw`"(?:[^"\\\]]|\\["\\\]])*"`;
/** RFC 5424, 6: a message with its header, its structured data and its text. */
const message = new RegExp(
  String.raw`^<(\d{1,3})>1 (-|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)) ` +
    String.raw`(${name}{1,255}) (${name}{1,48}) (${name}{1,128}) (${name}{1,32}) ` +
    String.raw`(?:-|(?:\[${sdName}(?: ${sdName}=${sdValue})*\])+)(?: \uFEFF?[^\u0000-\u001f]*)?$`,
  'u',
);

/** Why a receiver cannot read what came on a connection, by RFC 5424 and 5425; undefined if it can. */
function faultOf(bytes: Buffer): string | undefined {
  for (let rest = bytes; rest.length > 0;) {
    const [prefix, digits] = /^([1-9]\d{0,9}) /.exec(rest.subarray(0, 11).toString('latin1')) ?? [];
    if (prefix === undefined) return 'a frame does not begin with its length';
    const end = prefix.length + Number(digits);
    if (rest.length < end) return 'a frame is shorter than it says';
    if (Number(digits) > maxMessageBytes) return `a message has more than ${maxMessageBytes} bytes`;
    const text = rest.subarray(prefix.length, end).toString('utf8');
    const [, priority] = message.exec(text) ?? [];
    if (priority === undefined) return `it is no message: ${text}`;
    if (Number(priority) > 191) return 'there is no such facility';
    rest = rest.subarray(end);
  }
  return undefined;
}

interface Options {
  readonly key: string;
  readonly cert: string;
  /** called for each connection before anything is read */
  readonly onConnection?: (socket: TLSSocket) => void;
}

/** A receiver of syslog over TLS on this machine, which closes its side of a connection once it has read everything. */
export async function startSyslogServer({ key, cert, onConnection = () => undefined }: Options) {
  const connections: string[] = [];
  const faults: string[] = [];
  const sockets = new Set<TLSSocket>();
  const server = tls.createServer({ key, cert }, (socket) => {
    sockets.add(socket);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('end', () => {
      const bytes = Buffer.concat(chunks);
      connections.push(bytes.toString('utf8'));
      const fault = faultOf(bytes);
      if (fault !== undefined) faults.push(fault);
    });
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `tls://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** what came on each connection that the sender has closed */
    connections: connections as readonly string[],
    /** why messages cannot be read */
    faults: faults as readonly string[],
    stop: (): void => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
export type SyslogServer = Awaited<ReturnType<typeof startSyslogServer>>;
