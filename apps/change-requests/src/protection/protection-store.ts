import { onlyRow, type Tx } from '@bunting/database';
import type { Outbox } from '@bunting/outbox';
import type { EnvironmentRef } from '../requests/change-request.ts';
import { nowMsSql, selectProtectedEnvironments } from '../requests/request-read-store.ts';
import type { Protection } from '../reviews/approvals.ts';
import { ProtectedEnvironmentEntity, UnsyncedProtectionEntity } from '../unit-of-work/entities.ts';
import type { ProtectionDecision } from './environment-protection.ts';

/** A change of the protection of an environment, to be sent to the features service. */
export interface ProtectionChange {
  readonly version: number;
  readonly project: string;
  readonly environment: string;
  readonly isProtected: boolean;
}

/** One lock for a project: approvals and applications hold it shared, so that none of them is judged by a number that changes meanwhile. */
const lockProtectionsSql = `select pg_advisory_xact_lock(hashtext('protections'), hashtext($1))`;
const lockProtectionsForShareSql = `select pg_advisory_xact_lock_shared(hashtext('protections'), hashtext($1))`;

/** Whether the features service has the current protection of an environment, or will get it by a newer change. */
const isProtectionCurrentSql = `
  select exists (select from unsynced_protection where project = $1 and environment = $2)
    or exists (select from protected_environment where project = $1 and environment = $2) = $3::boolean as "isCurrent"`;

const continueVersionsAfterSql = `
  select setval('unsynced_protection_version_seq', greatest($1::bigint, (select last_value from unsynced_protection_version_seq)))`;

const selectProtectionAndNow = `
  select (select required_approvals from protected_environment where project = $1 and environment = $2) as "requiredApprovals",
    ${nowMsSql} as "nowMs"`;

/** The number of approvals that new requests require, null without protection, and the time of the database. */
export interface CurrentProtection {
  readonly requiredApprovals: number | null;
  readonly now: Date;
}

/** The protection of environments within a unit of work. */
export function protectionRepository(tx: Tx, outbox: Pick<Outbox, 'emit'>) {
  const get = async ({ project, environment }: EnvironmentRef): Promise<CurrentProtection> => {
    const rows = await tx.query<{ requiredApprovals: number | null; nowMs: number }>(selectProtectionAndNow, [
      project,
      environment,
    ]);
    const { requiredApprovals, nowMs: now } = onlyRow(rows);
    return { requiredApprovals, now: new Date(now) };
  };
  const lock = ({ project }: EnvironmentRef) => tx.query(lockProtectionsSql, [project]);

  return {
    /** The number of approvals that new requests require; null if the environment is not protected. */
    requiredApprovals: async (environmentRef: EnvironmentRef): Promise<number | null> =>
      (await get(environmentRef)).requiredApprovals,

    /** The protected environments of a project, also those that are not connected to it. None changes until the end of the transaction. */
    ofProjectForShare: async (project: string): Promise<Protection[]> => {
      await tx.query(lockProtectionsForShareSql, [project]);
      return tx.query<Protection>(selectProtectedEnvironments.text, [project]);
    },

    /** The protection of an environment, locked until the end of the transaction. */
    getForUpdate: async (environmentRef: EnvironmentRef): Promise<CurrentProtection> => {
      await lock(environmentRef);
      return get(environmentRef);
    },

    /** Protects the environment, or with null removes its protection. */
    save: async (
      { project, environment }: EnvironmentRef,
      { requiredApprovals: after, events }: ProtectionDecision,
    ): Promise<void> => {
      if (after === null) await tx.em.nativeDelete(ProtectedEnvironmentEntity, { project, environment });
      else await tx.em.upsert(ProtectedEnvironmentEntity, { project, environment, requiredApprovals: after });
      // Sent also if it does not change: after a restored backup the features service may have another value.
      tx.em.create(UnsyncedProtectionEntity, { project, environment, isProtected: after !== null });
      await tx.em.flush();
      outbox.emit(events);
    },

    /**
     * Removes a change after the features service has replied with the protection that it stores. After a restored backup of this database,
     * versions are assigned a second time, and that service ignores them: then the versions continue after the stored one, and the current
     * protection is added as another change. Returns whether there is one to send.
     */
    markSynced: async (
      { version, project, environment }: ProtectionChange,
      stored: Pick<ProtectionChange, 'version' | 'isProtected'>,
    ): Promise<boolean> => {
      await lock({ project, environment });
      await tx.em.nativeDelete(UnsyncedProtectionEntity, { version });
      const values = [project, environment, stored.isProtected];
      if (onlyRow(await tx.query<{ isCurrent: boolean }>(isProtectionCurrentSql, values)).isCurrent) return false;
      await tx.query(continueVersionsAfterSql, [stored.version]);
      tx.em.create(UnsyncedProtectionEntity, { project, environment, isProtected: !stored.isProtected });
      await tx.em.flush();
      return true;
    },
  };
}
