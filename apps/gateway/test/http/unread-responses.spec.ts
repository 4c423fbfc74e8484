import { eventually } from '@bunting/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { unreadResponses, type UnreadResponses } from '@bunting/http';
import { rawRequest } from '../connections.ts';

/** More than the operating system buffers for one connection. */
const answerBytes = 16 * 1024 * 1024;
const body = Buffer.alloc(answerBytes, 'x');

let server: Server;
let unread: UnreadResponses;
let sockets: Socket[];
let ended: number;

const start = async (limits: Parameters<typeof unreadResponses>[0], countedBytes = answerBytes): Promise<void> => {
  unread = unreadResponses(limits);
  server = createServer((request, response) => {
    response.once('close', () => {
      if (!response.writableFinished) ended++;
    });
    response.end(body);
    const options = request.url?.startsWith('/sharing') === true ? { shared: body } : {};
    unread.add(response, request.url ?? '', countedBytes, options);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
};
beforeEach(() => {
  sockets = [];
  ended = 0;
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

const send = (client: string): Socket => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  sockets.push(socket);
  socket.write(rawRequest('GET', `/${client}`));
  return socket;
};
const askWithoutReading = (client: string): Socket => send(client).pause();
const read = async (client: string): Promise<number> => {
  let bytes = 0;
  const socket = send(client).on('data', (chunk: Buffer) => (bytes += chunk.length));
  await new Promise((resolve) => socket.once('close', resolve));
  return bytes;
};

describe('unread responses', () => {
  it('ends the oldest connections of the client with most unread bytes beyond GATEWAY_MAX_UNREAD_RESPONSE_BYTES', async () => {
    const GATEWAY_MAX_UNREAD_RESPONSE_BYTES = 3 * answerBytes;
    await start({ GATEWAY_MAX_UNREAD_RESPONSE_BYTES, GATEWAY_RESPONSE_READ_TIMEOUT_MS: 600_000 });
    askWithoutReading('modest');
    await eventually(() => expect(unread.bytes()).toBe(answerBytes));
    for (let nth = 1; nth <= 10; nth++) {
      askWithoutReading('greedy');
      await eventually(() =>
        expect([ended, unread.bytes()]).toEqual([Math.max(0, nth - 2), Math.min(nth + 1, 3) * answerBytes]),
      );
    }
    expect(await read('another')).toBeGreaterThan(answerBytes);
    for (const socket of sockets) socket.destroy();
    await eventually(() => expect(unread.bytes()).toBe(0));
  });

  it('ends connections of the next largest client where the largest has only the newest response', async () => {
    unread = unreadResponses({ GATEWAY_MAX_UNREAD_RESPONSE_BYTES: 100_000, GATEWAY_RESPONSE_READ_TIMEOUT_MS: 600_000 });
    server = createServer().listen(0, '127.0.0.1');
    const add = (clientKey: string, bytes: number): ServerResponse => {
      const response = new ServerResponse(new IncomingMessage(new Socket()));
      unread.add(response, clientKey, bytes);
      return response;
    };
    const [small, medium] = [add('small', 20_000), add('medium', 60_000)];
    const large = add('large', 70_000);
    expect([small, medium, large].map(({ destroyed }) => destroyed)).toEqual([false, true, false]);
    expect(unread.bytes()).toBe(90_000);
    for (const response of [small, large]) response.destroy();
  });

  it('ends the connection of a response that is not read by its deadline', async () => {
    await start(
      { GATEWAY_MAX_UNREAD_RESPONSE_BYTES: 100 * answerBytes, GATEWAY_RESPONSE_READ_TIMEOUT_MS: 100 },
      64 * 1024,
    );
    askWithoutReading('slow');
    await eventually(() => expect(unread.bytes()).toBe(64 * 1024));
    await eventually(() => expect([ended, unread.bytes()]).toEqual([1, 0]));
  });

  it('counts a payload that many responses share once, for as long as one of them waits', async () => {
    await start({ GATEWAY_MAX_UNREAD_RESPONSE_BYTES: 2 * answerBytes, GATEWAY_RESPONSE_READ_TIMEOUT_MS: 600_000 });
    const waiting = [1, 2, 3, 4].map((nth) => askWithoutReading(`sharing-${nth}`));
    await eventually(() => expect(unread.bytes()).toBe(answerBytes));
    askWithoutReading('alone');
    await eventually(() => expect(unread.bytes()).toBe(2 * answerBytes));
    for (const socket of waiting.slice(0, 3)) socket.destroy();
    await eventually(() => expect(ended).toBe(3));
    expect(unread.bytes()).toBe(2 * answerBytes);
    waiting[3]?.destroy();
    await eventually(() => expect([ended, unread.bytes()]).toEqual([4, answerBytes]));
    for (const socket of sockets) socket.destroy();
    await eventually(() => expect([ended, unread.bytes()]).toEqual([5, 0]));
  });

  it('sends a payload beyond the limit to all that share it, since ending one of them would free nothing', async () => {
    await start({ GATEWAY_MAX_UNREAD_RESPONSE_BYTES: answerBytes / 2, GATEWAY_RESPONSE_READ_TIMEOUT_MS: 600_000 });
    let requests = 0;
    server.on('request', () => void requests++);
    for (let nth = 1; nth <= 3; nth++) askWithoutReading(`sharing-${nth}`);
    await eventually(() => expect([requests, ended, unread.bytes()]).toEqual([3, 0, answerBytes]));
    expect(await read('sharing-4')).toBeGreaterThan(answerBytes);
    expect(ended).toBe(0);
    for (const socket of sockets) socket.destroy();
    await eventually(() => expect([ended, unread.bytes()]).toEqual([3, 0]));
  });

  it('stops counting a response that has been read', async () => {
    await start({ GATEWAY_MAX_UNREAD_RESPONSE_BYTES: 2 * answerBytes, GATEWAY_RESPONSE_READ_TIMEOUT_MS: 600_000 });
    for (let nth = 0; nth < 5; nth++) expect(await read('quick')).toBeGreaterThan(answerBytes);
    expect([ended, unread.bytes()]).toEqual([0, 0]);
  });
});
