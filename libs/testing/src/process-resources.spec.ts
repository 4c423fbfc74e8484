import { expect, it } from 'vitest';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { reservePort } from './process-resources.ts';

const reserve = async (count: number): Promise<readonly number[]> => {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await reservePort());
  return ports;
};

it('no two processes reserve the same port, and a program can listen on a reserved one', async () => {
  // Of 5,000 ports: by chance alone, eight would be the same.
  const count = 200;
  const script = new URL('../test/reserve-ports.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--no-warnings', script, String(count)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const others = JSON.parse(line) as number[];
    const own = await reserve(count);
    expect(new Set([...others, ...own]).size).toBe(2 * count);

    const server = createServer().listen(own[0], '127.0.0.1');
    await once(server, 'listening');
    server.close();
  } finally {
    child.kill();
  }
});
