import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { overTcp, reservePort } from '@bunting/testing';

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** milliseconds from the first byte sent to the last received */
  readonly tookMs: number;
}

const responseFrom = (text: string, tookMs: number): RawResponse => {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return { status: Number(first.split(' ')[1]), headers, body: rest.join('\r\n\r\n'), tookMs };
};

/**
 * Sends bytes as they are, as no HTTP client would, and reads one response until the server ends the connection.
 * @param afterwards called with the connection once the bytes are sent
 */
export const sendRaw = (
  port: number,
  bytes: string | Buffer,
  afterwards: (socket: Socket) => void = () => undefined,
): Promise<RawResponse> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const received: Buffer[] = [];
    const socket = connect(port, '127.0.0.1');
    socket.setTimeout(60_000, () => socket.destroy(new Error('The server says nothing.')));
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    socket.once('end', () => {
      socket.destroy();
      resolve(responseFrom(Buffer.concat(received).toString('latin1'), performance.now() - startedAt));
    });
    // The kernel refuses what is sent after the server closed; the response before that counts.
    socket.once('error', (error) => {
      if (received.length === 0) reject(error);
      else resolve(responseFrom(Buffer.concat(received).toString('latin1'), performance.now() - startedAt));
    });
    socket.once('close', () => reject(new Error('The connection ended without a response.')));
    socket.once('connect', () => {
      socket.write(bytes);
      afterwards(socket);
    });
  });

/** A request with a body, after whose response the server closes the connection. */
export const rawRequest = (
  method: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): string => {
  const lines = Object.entries({ host: 'localhost', connection: 'close', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
};

/** A TCP proxy between a client and a server, which can cut the connection and restore it. @param to the URL of the server */
export const breakableConnection = async (to: string) => {
  const target = new URL(overTcp(to));
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.pipe(other);
      socket.on('error', () => other.destroy()).on('close', () => (other.destroy(), sockets.delete(socket)));
    }
  });
  const port = await reservePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.port = String(port);
  url.hostname = '127.0.0.1';
  return {
    /** the URL of the server through this proxy */
    url: url.href,
    /** Closes every connection, and accepts no new ones. */
    cut: async (): Promise<void> => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    mend: async (): Promise<void> => {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
  };
};
