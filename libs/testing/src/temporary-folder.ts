import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

// It tries again, because a process that uses the folder may be ending at the same time and write a last file.
const removeWhenInputEnds = 'read _; until rm -rf "$0" 2>/dev/null; do sleep 0.1; done';

/** Creates a folder that only this user can access. It is removed on request or when this process ends, even if it is killed. */
export const temporaryFolder = (name: string) => {
  const folder = path.join(tmpdir(), name);
  mkdirSync(folder, { mode: 0o700 });
  const remover = spawn('/bin/sh', ['-c', removeWhenInputEnds, folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  remover.unref();
  (remover.stdin as Socket).unref();
  return {
    path: folder,
    remove: async (): Promise<void> => {
      if (remover.exitCode !== null) return;
      remover.ref();
      const removed = once(remover, 'exit');
      remover.stdin.end('\n');
      await removed;
    },
  };
};
