import { overTcp } from '@bunting/testing';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy between a process and PostgreSQL that can deliver a statement late, as if the process were suspended before sending it. */
export const stallingProxy = async (databaseUrl: string, text: string) => {
  const url = new URL(overTcp(databaseUrl));
  const [port, host] = [Number(url.port), url.hostname];
  const open = new Set<Socket>();
  const heldBack: (() => void)[] = [];
  let isStalling = false;
  let notifyStalled = (): void => undefined;
  const stalled = new Promise<void>((resolve) => (notifyStalled = resolve));
  const server = createServer((client) => {
    const upstream = connect(port, host);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => open.delete(socket));
    }
    upstream.on('data', (bytes) => void client.write(bytes));
    upstream.on('close', () => (heldBack.length > 0 ? heldBack.push(() => client.destroy()) : client.destroy()));
    client.on('data', (bytes: Buffer) => {
      const pass = () => void (upstream.destroyed ? client.destroy() : upstream.write(bytes));
      if (!isStalling || (heldBack.length === 0 && !bytes.includes(text))) return pass();
      heldBack.push(pass);
      notifyStalled();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    /** the URL of the database through the proxy */
    url: url.href,
    /** From now on holds back what clients send, beginning with the next message that contains `text`. */
    stall: (): void => void (isStalling = true),
    /** Resolves when the first message is held back. */
    stalled,
    /** Delivers the messages that were held back, and all later ones immediately. */
    release: (): void => {
      isStalling = false;
      for (const pass of heldBack.splice(0)) pass();
    },
    stop: async (): Promise<void> => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};
