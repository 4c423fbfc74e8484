import { type EmbeddedPostgres, startEmbeddedPostgres } from '@bunting/embedded-postgres';
import { appendFileSync, chmodSync, cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from './temporary-folder.ts';

/** Starts a PostgreSQL and a streaming replica of it. Both end with this process, and their data is deleted. */
export const startReplicatedPostgres = async () => {
  const folder = temporaryFolder(`bunting-test-replicated-${process.pid}`);
  const [dataDir, replicaDir] = [path.join(folder.path, 'primary'), path.join(folder.path, 'replica')] as const;
  // A copy of the data folder of a stopped server is a base backup.
  await (await startEmbeddedPostgres({ dataDir, ephemeral: true })).stop();
  cpSync(dataDir, replicaDir, { recursive: true });
  chmodSync(replicaDir, 0o700);
  const primary = await startEmbeddedPostgres({ dataDir, ephemeral: true });
  const { username, password, port } = new URL(primary.url);
  writeFileSync(path.join(replicaDir, 'standby.signal'), '');
  appendFileSync(
    path.join(replicaDir, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=${username} password=${password}'\n`,
  );
  let replica: EmbeddedPostgres = await startEmbeddedPostgres({ dataDir: replicaDir, ephemeral: true });
  const replicaPort = replica.port;
  return {
    primary,
    get replica() {
      return replica;
    },
    stopReplica: (): Promise<void> => replica.stop(),
    /** Starts the replica again on its port. */
    restartReplica: async (): Promise<void> => {
      replica = await startEmbeddedPostgres({ dataDir: replicaDir, port: replicaPort, ephemeral: true });
    },
    stop: async (): Promise<void> => {
      await replica.stop();
      await primary.stop();
      await folder.remove();
    },
  };
};
export type ReplicatedPostgres = Awaited<ReturnType<typeof startReplicatedPostgres>>;
