import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

const program = `
  const { logUnhandledRejections } = await import(${JSON.stringify(path.join(import.meta.dirname, 'run.ts'))});
  const { openLog } = await import(${JSON.stringify(path.join(import.meta.dirname, '../monitoring/log.ts'))});
  logUnhandledRejections(openLog('error'));
  Promise.reject(new Error('The database is away.'));
  setTimeout(() => console.log('still here'), 10);`;

describe('a process', () => {
  it('logs an unhandled rejection, and keeps running', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
    const [line = '', after] = stdout.trim().split('\n');
    expect(JSON.parse(line)).toMatchObject({
      level: 'error',
      msg: 'Unhandled promise rejection',
      err: { message: 'The database is away.', stack: expect.stringContaining('at ') },
    });
    expect(after).toBe('still here');
  });
});
