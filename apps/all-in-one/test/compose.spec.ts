import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startNats, type TestNats } from '@bunting/testing';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { repository } from './program.ts';

const read = (file: string): string => readFileSync(path.join(repository, file), 'utf8');

/** Sends a NATS server the options of a connection and a probe; resolves with its answer, after its greeting. */
const answerTo = async (port: number, options: object): Promise<string> => {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  socket.write(`CONNECT ${JSON.stringify({ verbose: false, ...options })}\r\nPING\r\n`);
  let answer = '';
  for await (const piece of socket) {
    answer += piece;
    if (/^(PONG|-ERR)/m.test(answer)) break;
  }
  return answer.replace(/^INFO .*\r\n/, '').trim();
};

describe('the NATS server of the compose file', () => {
  // Without the quotes of the compose file nats-server would take such a password for a number.
  const password = '012345678901234567890123';
  let nats: TestNats;
  beforeAll(async () => {
    const authorization = /^authorization \{[^}]*\}$/m.exec(read('docker/nats.conf'))?.[0] ?? '';
    nats = await startNats({
      jetstream: false,
      config: authorization,
      environment: { NATS_PASSWORD: `"${password}"` },
    });
  });
  afterAll(() => nats.stop());

  it('accepts connections with the password of the services only', async () => {
    expect(read('docker-compose.yml')).toMatch(/^ {6}NATS_PASSWORD: '"\$\{NATS_PASSWORD:\?[^}]*\}"'$/m);
    expect(await answerTo(nats.port, { user: 'bunting', pass: password })).toBe('PONG');
    for (const options of [{}, { user: 'bunting', pass: 'another' }, { auth_token: password }])
      expect(await answerTo(nats.port, options)).toMatch(/^-ERR 'Authorization Violation'/);
  });

  it('serves its monitoring on the loopback interface of its container only', () => {
    const config = read('docker/nats.conf');
    expect(config).toMatch(/^http: "127\.0\.0\.1:8222"$/m);
    expect(config).not.toMatch(/^https?_port/m);
  });
});
