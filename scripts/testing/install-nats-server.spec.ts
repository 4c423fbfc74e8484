import { afterAll, expect, it } from 'vitest';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { extractVerified } from './install-nats-server.ts';

const scratch = mkdtempSync(path.join(tmpdir(), 'bunting-test-archive-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const archive = (): Uint8Array => {
  mkdirSync(path.join(scratch, 'release'), { recursive: true });
  writeFileSync(path.join(scratch, 'release', 'program'), '#!/bin/sh\necho it runs\n');
  execFileSync('tar', ['-czf', path.join(scratch, 'release.tar.gz'), '-C', scratch, 'release/program']);
  return readFileSync(path.join(scratch, 'release.tar.gz'));
};

it('a downloaded program runs when its archive has the known checksum', async () => {
  const [target, bytes] = [path.join(scratch, 'cache', 'program'), archive()];
  await extractVerified(bytes, createHash('sha256').update(bytes).digest('hex'), 'release/program', target);
  expect(execFileSync(target, { encoding: 'utf8' })).toBe('it runs\n');
  expect(readdirSync(path.dirname(target))).toEqual(['program']);
});

it('an archive with another checksum is not unpacked', async () => {
  const target = path.join(scratch, 'other', 'program');
  await expect(extractVerified(archive(), 'f'.repeat(64), 'release/program', target)).rejects.toThrow(
    /has the checksum [0-9a-f]{64} instead of f{64}/,
  );
  expect(existsSync(target)).toBe(false);
});
