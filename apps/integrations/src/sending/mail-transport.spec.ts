import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { startMailServer } from '@bunting/testing/destinations';
import { afterEach, expect, it } from 'vitest';
import { type MailTransport, mailTransport } from './mail-transport.ts';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

async function transportTo(url: string, timeoutMs: number): Promise<MailTransport> {
  const transport = await mailTransport({ url, from: 'bunting@example.org', host: 'flags.example.org', timeoutMs });
  opened.push(transport.close);
  return transport;
}
const mail = (to = ['mia@example.org']) => ({ to, subject: 'Flags', text: 'A flag was enabled.', id: 'one' });

it('a mail has failed when its time is over, although the server goes on with its greeting', async () => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const greeting = setInterval(() => socket.write('220-and\r\n'), 20);
    socket
      .on('error', () => undefined)
      .on('close', () => {
        clearInterval(greeting);
        sockets.delete(socket);
      });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(() => server.close());
  const { send } = await transportTo(`smtp://127.0.0.1:${(server.address() as AddressInfo).port}`, 300);
  // More than there are connections: those that wait for one end as well.
  const sent = await Promise.allSettled(Array.from({ length: 6 }, () => send(mail())));
  // Whichever comes first: the end of the whole attempt, or that of one of its parts.
  for (const one of sent)
    expect(one.status === 'rejected' ? String(one.reason) : one.status).toMatch(
      /the mail server (?:has not accepted it within 300 ms|failed \(ETIMEDOUT\))/,
    );
});

it('says which addresses the server has refused, where it has accepted others', async () => {
  const server = await startMailServer();
  opened.push(server.stop);
  server.refuse({ at: 'rcpt', code: 550, address: 'gone@example.org' });
  const { send } = await transportTo(server.url, 20_000);
  expect(await send(mail(['mia@example.org', 'gone@example.org']))).toEqual(['gone@example.org']);
  expect(server.mails.map(({ to }) => to)).toEqual([['mia@example.org']]);
});
