import { selfSignedCertificate, startSyslogServer } from '@bunting/testing/destinations';
import { createServer as createTlsServer } from 'node:https';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { allowedAddresses } from './addresses.ts';
import { type HttpClient, httpClient } from './http-client.ts';

const opened: { close: () => unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return (server.address() as AddressInfo).port;
}

function client(allowed = '127.0.0.1', timeoutMs = 20_000): HttpClient {
  const created = httpClient({ allowed: allowedAddresses(allowed), timeoutMs });
  opened.push(created);
  return created;
}

const serve = (listener: RequestListener) => listen(createServer(listener));
const post = (url: string) => ({ url, headers: { 'content-type': 'text/plain' }, body: 'event' });

describe('the client of destinations', () => {
  it('refuses a host that resolves to an address which is not of the internet, whatever its name', async () => {
    const port = await serve((_request, response) => response.end());
    const { send } = client('');
    await expect(send(post(`http://127.0.0.1:${port}/`))).rejects.toThrow('must be an address of the internet');
    // Only the name is known until the connection is made, as with one whose DNS answers change.
    const named = client('');
    const lookedUp = new URL(`http://localhost:${port}/`);
    await expect(named.send(post(lookedUp.href))).rejects.toThrow('must be an address of the internet');
  });

  it('connects to the address that it has checked, and looks at the next one again, however the answers change', async () => {
    const port = await serve((_request, response) => response.writeHead(204, { connection: 'close' }).end());
    const answers = ['127.0.0.1', '169.254.169.254'];
    const created = httpClient({
      allowed: allowedAddresses('127.0.0.1'),
      timeoutMs: 20_000,
      lookup: (_host, _options, callback) => callback(null, [{ address: answers.shift() ?? '', family: 4 }]),
    });
    opened.push(created);
    const { send } = created;
    expect(await send(post(`http://rebind.example.org:${port}/`))).toMatchObject({ status: 204 });
    expect(answers).toEqual(['169.254.169.254']);
    await expect(send(post(`http://rebind.example.org:${port}/`))).rejects.toThrow(
      'resolves to an address that is not of the internet',
    );
    expect(answers).toEqual([]);
  });

  it('fails for a certificate that has expired, although it is vouched for', async () => {
    const expired = selfSignedCertificate({ isExpired: true });
    let isReached = false;
    const server = createTlsServer(expired, (_request, response) => {
      isReached = true;
      response.end();
    });
    const port = await listen(server);
    const created = httpClient({ allowed: allowedAddresses('127.0.0.1'), timeoutMs: 20_000, ca: expired.cert });
    opened.push(created);
    await expect(created.send(post(`https://127.0.0.1:${port}/`))).rejects.toThrow(/expired/i);
    expect(isReached).toBe(false);
  });

  it('reads 64 kB of a response, and judges it by its status', async () => {
    const port = await serve((_request, response) => {
      response.writeHead(200);
      const write = (): void =>
        void (response.writable && response.write('x'.repeat(10_000), () => setImmediate(write)));
      write();
    });
    const response = await client().send(post(`http://127.0.0.1:${port}/`));
    expect(response.status).toBe(200);
    expect(response.body).toHaveLength(64 * 1024);
  });

  it('gives up on a destination that does not respond, and takes the status of one whose response never ends', async () => {
    const silent = await serve(() => undefined);
    const endless = await serve((_request, response) => void response.writeHead(202).write('and'));
    const { send } = client('127.0.0.1', 300);
    await expect(send(post(`http://127.0.0.1:${silent}/`))).rejects.toThrow('no complete response within 300 ms');
    expect(await send(post(`http://127.0.0.1:${endless}/`))).toMatchObject({ status: 202 });
  });

  it('returns a redirect, and does not follow it', async () => {
    let isFollowed = false;
    const other = await serve((_request, response) => {
      isFollowed = true;
      response.end();
    });
    const port = await serve((_request, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${other}/` }).end(),
    );
    expect(await client().send(post(`http://127.0.0.1:${port}/`))).toMatchObject({ status: 307 });
    expect(isFollowed).toBe(false);
  });

  it('fails where the destination changes to another protocol instead of responding', async () => {
    const server = createServer();
    const switching = await listen(
      server.on('connection', (socket: Socket) => {
        socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      }),
    );
    await expect(client().send(post(`http://127.0.0.1:${switching}/`))).rejects.toThrow('without a response');
  });

  /** A server without HTTP of its own: what it does with the nth request of a connection. */
  async function serveRaw(answer: (socket: Socket, nth: number) => void) {
    const requests: string[] = [];
    const server = createServer();
    server.removeAllListeners('connection').on('connection', (socket: Socket) => {
      let nth = 0;
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        requests.push(chunk.toString());
        answer(socket, ++nth);
      });
      opened.push({ close: () => socket.destroy() });
    });
    return { url: `http://127.0.0.1:${await listen(server)}/`, requests };
  }
  const accepted = 'HTTP/1.1 204 No Content\r\n\r\n';

  /** Until then a request would be sent on another connection. */
  const isIdle = () => new Promise((resolve) => setImmediate(resolve));

  it.each([
    ['asks it to continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['changes the protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
    ['responds with a header that is too long', `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['responds with something else', '220 mail.example.org ESMTP\r\n'],
    ['responds with half a header', 'HTTP/1.1 200 OK\r\nContent-'],
  ])(
    'sends once what a destination has read that %s and closes, also on a connection that it keeps',
    async (_, text) => {
      const fresh = await serveRaw((socket) => socket.end(text));
      const { send } = client();
      await expect(send(post(fresh.url))).rejects.toThrow();
      expect(fresh.requests).toHaveLength(1);
      const kept = await serveRaw((socket, nth) => (nth === 1 ? socket.write(accepted) : socket.end(text)));
      await send(post(kept.url));
      await isIdle();
      await expect(send(post(kept.url))).rejects.toThrow();
      expect(kept.requests).toHaveLength(2);
    },
  );

  it('takes the response of a destination that asks it to continue before', async () => {
    const interim = 'HTTP/1.1 100 Continue\r\n\r\n';
    const together = await serveRaw((socket) => socket.write(`${interim}${accepted}`));
    const apart = await serveRaw((socket) => {
      socket.write(interim);
      setImmediate(() => socket.write(accepted));
    });
    const { send } = client();
    for (const { url, requests } of [together, apart]) {
      for (const nth of [1, 2]) {
        expect(await send(post(url))).toMatchObject({ status: 204 });
        expect(requests).toHaveLength(nth);
      }
    }
  });

  it('sends again, once, what a destination has met with the end of a connection that it had kept', async () => {
    const once = await serveRaw((socket, nth) => (nth === 1 ? socket.write(accepted) : socket.destroy()));
    const { send } = client();
    for (const expected of [1, 3]) {
      expect(await send(post(once.url))).toMatchObject({ status: 204 });
      expect(once.requests).toHaveLength(expected);
      await isIdle();
    }
    const never = await serveRaw((socket) => socket.destroy());
    await expect(send(post(never.url))).rejects.toThrow(/without a response|ECONNRESET/);
    expect(never.requests).toHaveLength(1);
  });

  it('fails with a reason where nothing listens, where the connection is closed, and for a certificate that nobody vouches for', async () => {
    const closing = await serve((request) => void request.socket.destroy());
    const tls = await listen(createTlsServer(selfSigned, (_request, response) => void response.end()));
    const { send } = client();
    await expect(send(post('http://127.0.0.1:1/'))).rejects.toThrow('ECONNREFUSED');
    await expect(send(post(`http://127.0.0.1:${closing}/`))).rejects.toThrow(/without a response|hang up|ECONNRESET/);
    await expect(send(post(`https://127.0.0.1:${tls}/`))).rejects.toThrow(/certificate|CERT|SSL|EPROTO/i);
  });
});

/** A server for TLS without a certificate fails every handshake, as one with a certificate of nobody does. */
const selfSigned = {};

describe('a syslog server', () => {
  const certificate = selfSignedCertificate();
  async function serveTls(onConnection?: (socket: TLSSocket) => void) {
    const server = await startSyslogServer({ ...certificate, ...(onConnection && { onConnection }) });
    opened.push({ close: server.stop });
    return server;
  }
  const clientOf = (ca: string | undefined, timeoutMs = 20_000) => {
    const created = httpClient({
      allowed: allowedAddresses('127.0.0.1'),
      timeoutMs,
      ...(ca === undefined ? {} : { ca }),
    });
    opened.push(created);
    return created;
  };
  const frame = (url: string, body = '<109>1 – event') => ({ url, headers: {}, body });

  it('gets each event as a frame with its bytes, which is accepted once the server has read it', async () => {
    const { url, connections } = await serveTls();
    expect(await clientOf(certificate.cert).send(frame(url))).toEqual({
      status: null,
      retryAfter: undefined,
      body: '',
    });
    await clientOf(certificate.cert).send(frame(url.replace('tls', 'TLS'), 'x'));
    expect(connections).toEqual(['16 <109>1 – event', '1 x']);
  });

  it('has not accepted an event if it closes before it has read it, resets, stays open or is not who it should be', async () => {
    const closing = await serveTls((socket) => socket.destroy());
    const open = await serveTls((socket) => (socket.allowHalfOpen = true));
    const { url, connections } = await serveTls();
    const { send } = clientOf(certificate.cert, 500);
    await expect(send(frame(closing.url, 'x'.repeat(5_000_000)))).rejects.toThrow(/closed before|ECONNRESET|EPIPE/);
    await expect(send(frame(open.url))).rejects.toThrow('has not confirmed within 500 ms');
    await expect(clientOf(undefined).send(frame(url))).rejects.toThrow(/self.signed certificate/i);
    await expect(clientOf(certificate.cert).send(frame(url.replace('127.0.0.1', 'localhost')))).rejects.toThrow(
      'must be an address of the internet',
    );
    await expect(send(frame('tls://127.0.0.1:1'))).rejects.toThrow('ECONNREFUSED');
    expect(connections).toEqual([]);
  });
});
