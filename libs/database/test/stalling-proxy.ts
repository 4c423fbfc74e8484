import { overTcp } from '@bunting/testing';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Stands between a process and PostgreSQL, and delivers a statement late: as for a process that is stopped before it sends it. */
export const stallingProxy = async (databaseUrl: string, text: string) => {
  const url = new URL(overTcp(databaseUrl));
  const [port, host] = [Number(url.port), url.hostname];
  const open = new Set<Socket>();
  const held: (() => void)[] = [];
  let isStalling = false;
  let tell = (): void => undefined;
  const stalled = new Promise<void>((resolve) => (tell = resolve));
  const server = createServer((client) => {
    const upstream = connect(port, host);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => open.delete(socket));
    }
    upstream.on('data', (bytes) => void client.write(bytes));
    upstream.on('close', () => (held.length > 0 ? held.push(() => client.destroy()) : client.destroy()));
    client.on('data', (bytes: Buffer) => {
      const pass = () => void (upstream.destroyed ? client.destroy() : upstream.write(bytes));
      if (!isStalling || (held.length === 0 && !bytes.includes(text))) return pass();
      held.push(pass);
      tell();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    /** the database, by way of the proxy */
    url: url.href,
    /** From now on holds back what a client sends from a text on. */
    stall: (): void => void (isStalling = true),
    /** Resolves once something is held back. */
    stalled,
    /** Passes on what was held back, and everything after it. */
    release: (): void => {
      isStalling = false;
      for (const pass of held.splice(0)) pass();
    },
    stop: async (): Promise<void> => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};
