import { type Caller, may } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import type { Feature } from '../domain/feature.ts';
import { guardedEdit, requireSkipping } from '../domain/protection.ts';

/** Where edits take a change request, within a unit of work. */
export interface ProtectionRepository {
  protectedOf(project: string): Promise<string[]>;
  /** Remembers what was said last. */
  set(said: { project: string; environment: string; isProtected: boolean; version: number }): Promise<void>;
}

const set = `
  insert into protected_environment values ($1, $2, $3, $4)
  on conflict (project, environment) do update set is_protected = excluded.is_protected, version = excluded.version
  where protected_environment.version < excluded.version`;

export const protectionRepository = ({ query }: Tx): ProtectionRepository => ({
  protectedOf: async (project) => {
    const text = 'select environment from protected_environment where project = $1 and is_protected';
    return (await query<{ environment: string }>(text, [project])).map(({ environment }) => environment);
  },
  set: async ({ project, environment, isProtected, version }) => {
    await query(set, [project, environment, isProtected, version]);
  },
});

/**
 * Refuses to store an edit that takes a change request. Every direct edit passes here, whichever operation it is: what
 * counts is what would differ, and not the path that it came by.
 */
export const refusingGuardedEdits = (caller: Caller, protection: Pick<ProtectionRepository, 'protectedOf'>) => {
  // Asked once for each project within a unit of work, however many features it edits.
  const asked = new Map<string, readonly string[]>();
  const protectedOf = async (project: string): Promise<readonly string[]> => {
    const known = asked.get(project) ?? (await protection.protectedOf(project));
    asked.set(project, known);
    return known;
  };

  return async (before: Feature, after: Feature): Promise<void> => {
    if (may(caller, ['ADMIN'], { project: before.project })) return;
    const edit = guardedEdit(before, after);
    if (edit.environments.length === 0 && !edit.everywhere) return;
    requireSkipping(edit, await protectedOf(edit.project), caller);
  };
};
