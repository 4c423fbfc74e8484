import { connect, type Socket } from 'node:net';

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
