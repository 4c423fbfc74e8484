import { type Bus, call, systemContext } from '@bunting/bus';
import { DigestStates, ListStateVersions, ReadStates, type StateVersion } from '@bunting/contracts';
import type { CurrentState, KeptDigest, KeptEntity } from '../persistence/stored-states.ts';

/** The features service, as who compares with it sees it. */
export interface StateSource {
  digests(entity: KeptEntity): Promise<readonly KeptDigest[]>;
  versions(
    entity: KeptEntity,
    group: string | undefined,
    after: string,
    limit: number,
  ): Promise<readonly StateVersion[]>;
  states(entity: KeptEntity, ids: readonly string[]): Promise<readonly CurrentState[]>;
}

const timeoutMs = 10_000;
const groupsAtOnce = 200;

export const stateSource = (bus: Bus): StateSource => ({
  digests: async (entity) => {
    const groups: KeptDigest[] = [];
    for (let after: string | null = ''; after !== null;) {
      const body = { entity, after, limit: groupsAtOnce };
      const page: { groups: KeptDigest[]; next: string | null } = await call(
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
