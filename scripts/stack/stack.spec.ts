import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('a stack on a port that is used says so first, and starts nothing', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'bunting-stack-'));
  const other = createServer().listen(0, '0.0.0.0');
  try {
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const data = path.join(folder, 'data');
    const env = { PATH: process.env['PATH'], PORT: String(port), BUNTING_DATA_DIR: data };
    const run = promisify(execFile)(process.execPath, [path.join(import.meta.dirname, '..', 'stack.ts')], { env });
    await expect(run).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: `Port ${port} is taken: stop the program that uses it, or set PORT to another port.\n`,
    });
    expect(existsSync(data)).toBe(false);
  } finally {
    other.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
