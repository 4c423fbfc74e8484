import type { Caller, EventType } from '@bunting/contracts';
import type { Telling } from '@bunting/outbox';
import { requireAdministratorLeft } from './administrators.ts';
import { type GroupRepository, groupRepository } from './group-repository.ts';
import { type People, people } from './people.ts';
import { type ProjectAccessRepository, projectAccessRepository } from './project-access.ts';
import { type RoleRepository, roleRepository } from './role-repository.ts';
import { type StoredTokens, storedTokens } from './stored-tokens.ts';
import type { TokenHasher } from './token-key.ts';

/** What happened, as it is told: never with a secret, and never with an address of the network. */
export interface AccessEvent {
  readonly type: EventType;
  readonly project?: string | null;
  readonly environment?: string | null;
  readonly data?: object | null;
  readonly preData?: object | null;
}

/** Who has the work done, and when. */
export interface Occasion {
  readonly caller: Caller;
  readonly now: Date;
  readonly traceparent: string;
}

/** What a job works with. All that it stores and tells is committed together, or nothing is. */
export interface Work {
  readonly people: People;
  readonly groups: GroupRepository;
  readonly roles: RoleRepository;
  readonly projectAccess: ProjectAccessRepository;
  readonly tokens: StoredTokens;
  /** @throws Refusal when nobody could administer Bunting any more once this work is done. */
  readonly requireAdministratorLeft: () => Promise<void>;
  readonly tell: (event: AccessEvent) => void;
}

export type UnitOfWork = <T>(occasion: Occasion, job: (work: Work) => Promise<T>) => Promise<T>;

export const unitOfWork =
  ({ work }: Pick<Telling, 'work'>, hasher: TokenHasher): UnitOfWork =>
  ({ caller, now, traceparent }, job) =>
    work(traceparent, (tx, outbox) =>
      job({
        people: people(tx),
        groups: groupRepository(tx),
        roles: roleRepository(tx),
        projectAccess: projectAccessRepository(tx),
        tokens: storedTokens(tx, hasher),
        requireAdministratorLeft: () => requireAdministratorLeft(tx),
        tell: ({ type, project = null, environment = null, data = null, preData = null }) =>
          outbox.event({
            type,
            createdAt: now.toISOString(),
            createdBy: caller.name,
            createdByUserId: caller.id,
            project,
            environment,
            featureName: null,
            data: data as Record<string, unknown> | null,
            preData: preData as Record<string, unknown> | null,
            tags: [],
          }),
      }),
    );
