import { expect, it } from 'vitest';
import { programError } from './postgres-program.ts';

it('the error for a full disk names the cause and the report of PostgreSQL', () => {
  const report = 'FATAL:  could not write to file "pg_wal/xlogtemp.7": No space left on device\n';
  expect(programError('PostgreSQL could not make a database in', '/data', report).message).toBe(
    `PostgreSQL could not make a database in /data, since the disk is full: free some space on it, or choose another folder.\n${report.trim()}`,
  );
});

it('the error for any other cause contains the report of PostgreSQL', () => {
  expect(programError('PostgreSQL did not start on the data folder', '/data', '').message).toBe(
    'PostgreSQL did not start on the data folder /data: fix what it reports, or choose another folder.\n(It reported nothing.)',
  );
});
