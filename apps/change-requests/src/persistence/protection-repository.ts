import type { Tx } from '@bunting/database';
import { UnsyncedProtectionEntity } from './entities.ts';

/** A change of the protection of an environment, to be sent to the features service. */
export interface ProtectionChange {
  readonly version: number;
  readonly project: string;
  readonly environment: string;
  readonly isProtected: boolean;
}

/** Locks the protection of an environment until the end of the transaction. */
export const lockProtection = 'select pg_advisory_xact_lock(hashtext($1), hashtext($2))';

/** Whether the features service has the current protection of an environment, or will get it by a newer change. */
const isProtectionCurrent = `
  select exists (select from unsynced_protection where project = $1 and environment = $2)
    or exists (select from protected_environment where project = $1 and environment = $2) = $3::boolean as "isCurrent"`;

const continueVersionsAfter = `
  select setval('unsynced_protection_version_seq', greatest($1::bigint, (select last_value from unsynced_protection_version_seq)))`;

/** Changes of protection within a unit of work. */
export const protectionRepository = (tx: Tx) => ({
  /**
   * Removes a change after the features service has replied with the protection that it stores. After a restored backup of this database,
   * versions are assigned a second time, and that service ignores them: then the versions continue after the stored one, and the current
   * protection is added as another change. Returns whether there is one to send.
   */
  markSynced: async (
    { version, project, environment }: ProtectionChange,
    stored: Pick<ProtectionChange, 'version' | 'isProtected'>,
  ): Promise<boolean> => {
    await tx.query(lockProtection, [project, environment]);
    await tx.em.nativeDelete(UnsyncedProtectionEntity, { version });
    const [{ isCurrent } = { isCurrent: true }] = await tx.query<{ isCurrent: boolean }>(isProtectionCurrent, [
      project,
      environment,
      stored.isProtected,
    ]);
    if (isCurrent) return false;
    await tx.query(continueVersionsAfter, [stored.version]);
    tx.em.create(UnsyncedProtectionEntity, { project, environment, isProtected: !stored.isProtected });
    await tx.em.flush();
    return true;
  },
});
