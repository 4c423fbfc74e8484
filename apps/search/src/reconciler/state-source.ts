import { type Bus, systemContext } from '@bunting/bus';
import {
  DigestStateVersions,
  ListStateVersions,
  type ReadableStateEntity,
  ReadStates,
  type StateVersion,
} from '@bunting/contracts';
import { call } from '../calls.ts';
import type { SourceState, StateDigest } from '../persistence/reconciliation-repository.ts';

const timeoutMs = 10_000;
const groupPageSize = 200;

/** The current states in the features service. */
export const stateSource = (bus: Bus) => ({
  digests: async (entity: ReadableStateEntity): Promise<readonly StateDigest[]> => {
    const groups: StateDigest[] = [];
    for (let after: string | null = ''; after !== null;) {
      const body = { entity, after, limit: groupPageSize };
      const page: { groups: StateDigest[]; next: string | null } = await call(
        bus,
        DigestStateVersions,
        { body },
        systemContext(timeoutMs),
      );
      groups.push(...page.groups);
      after = page.next;
    }
    return groups;
  },
  versions: async (
    entity: ReadableStateEntity,
    group: string | undefined,
    after: string,
    limit: number,
  ): Promise<readonly StateVersion[]> => {
    const body = { entity, after, limit, ...(group === undefined || entity === 'segment' ? {} : { project: group }) };
    return (await call(bus, ListStateVersions, { body }, systemContext(timeoutMs))).versions;
  },
  states: async (entity: ReadableStateEntity, ids: readonly string[]): Promise<readonly SourceState[]> =>
    (await call(bus, ReadStates, { body: { entity, ids: [...ids] } }, systemContext(timeoutMs))).states,
});
export type StateSource = ReturnType<typeof stateSource>;
