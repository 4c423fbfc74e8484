import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { runCommand, UsageError } from '../command.ts';

const help = `Runs the behaviour suite of feature search with a real Meilisearch server.

  MEILI_URL=http://127.0.0.1:7700 MEILI_KEY=… npm run test:meilisearch

It uses an index of its own, and deletes it in the end. Without MEILI_URL it fails.`;

const repository = path.join(import.meta.dirname, '../..');

await runCommand({ help }, () => {
  const { MEILI_URL: url } = process.env;
  if (url === undefined || url === '') {
    throw new UsageError(`MEILI_URL is not set: there is no Meilisearch server to test with.\n\n${help}`);
  }
  const { status } = spawnSync(
    path.join(repository, 'node_modules', '.bin', 'vitest'),
    ['run', '--project', 'search', 'index/background.spec.ts'],
    { cwd: repository, stdio: 'inherit', env: { ...process.env, TEST_MEILISEARCH: 'real' } },
  );
  return status ?? 1;
});
