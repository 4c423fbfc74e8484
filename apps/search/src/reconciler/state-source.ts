import { type Bus, call, systemContext } from '@bunting/bus';
import { DigestStates, ListStateVersions, ReadStates, type StateVersion } from '@bunting/contracts';
import type { CurrentState, StateDigest, StateEntity } from '../persistence/stored-states.ts';

/** The current states in the features service. */
export interface StateSource {
  digests(entity: StateEntity): Promise<readonly StateDigest[]>;
  versions(
    entity: StateEntity,
    group: string | undefined,
    after: string,
    limit: number,
  ): Promise<readonly StateVersion[]>;
  states(entity: StateEntity, ids: readonly string[]): Promise<readonly CurrentState[]>;
}

const timeoutMs = 10_000;
const groupPageSize = 200;

export const stateSource = (bus: Bus): StateSource => ({
  digests: async (entity) => {
    const groups: StateDigest[] = [];
    for (let after: string | null = ''; after !== null;) {
      const body = { entity, after, limit: groupPageSize };
      const page: { groups: StateDigest[]; next: string | null } = await call(
        bus,
        DigestStates,
        { body },
        systemContext(timeoutMs),
      );
      groups.push(...page.groups);
      after = page.next;
    }
    return groups;
  },
  versions: async (entity, group, after, limit) => {
    const body = { entity, after, limit, ...(group === undefined || entity === 'segment' ? {} : { project: group }) };
    return (await call(bus, ListStateVersions, { body }, systemContext(timeoutMs))).versions;
  },
  states: async (entity, ids) =>
    (await call(bus, ReadStates, { body: { entity, ids: [...ids] } }, systemContext(timeoutMs))).states,
});
