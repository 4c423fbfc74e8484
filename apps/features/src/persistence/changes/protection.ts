import {
  asJsonObject,
  memberOf,
  type Caller,
  type ReplyOf,
  type SetProtection,
  type RequestOf,
} from '@bunting/contracts';
import { onlyRow, type Tx } from '@bunting/database';
import type { DomainEvent, Feature } from '../../domain/features/feature.ts';
import {
  protectedAddition,
  type ProtectedEdit,
  protectedEdit,
  protectedRemoval,
  requireUnprotectedProject,
  requireSkipPermission,
} from '../../domain/projects/protection.ts';

/** SQL: the protected environments that are connected to a project. */
export const protectedOfProject = (project: string): string => `
  select environment from protected_environment protection where project = ${project} and is_protected and exists (
    select from project_environment connected
    where connected.project = protection.project and connected.environment = protection.environment)`;

/** Stores the protection unless a newer version is stored, and returns the stored one. The entity manager cannot compare versions in an upsert. */
const set = `
  insert into protected_environment (project, environment, is_protected, version) values ($1, $2, $3, $4)
  on conflict (project, environment) do update set
    is_protected = case when protected_environment.version < excluded.version then excluded.is_protected else protected_environment.is_protected end,
    version = greatest(protected_environment.version, excluded.version)
  returning is_protected as "isProtected", version`;

/** The environments of projects that require change requests, as reported by the change requests service. */
export const protectionRepository = ({ query }: Tx) => ({
  /** The protected environments that are connected to a project. */
  protectedOf: async (project: string): Promise<string[]> =>
    (await query<{ environment: string }>(protectedOfProject('$1'), [project])).map(({ environment }) => environment),
  /** Stores the protection of an environment, unless a newer version is stored already; returns what is stored then. */
  set: async ({
    project,
    environment,
    isProtected,
    version,
  }: RequestOf<typeof SetProtection>['body']): Promise<ReplyOf<typeof SetProtection>> => {
    const values = [project, environment, isProtected, version];
    return onlyRow(await query<ReplyOf<typeof SetProtection>>(set, values), 'that stores a protection');
  },
});

/** The environments in which an edit was allowed to skip change requests, and the events of that edit. */
interface Bypass {
  readonly environments: readonly string[];
  readonly concerns: (event: DomainEvent) => boolean;
}

/** Allows every edit: for changes that were approved in a change request. */
export const allowAllEdits: ProtectionGuard = {
  cacheProtected: () => undefined,
  checkClone: () => Promise.resolve(),
  checkMove: () => Promise.resolve(),
  checkAddition: () => Promise.resolve(),
  checkEdit: () => Promise.resolve(),
  checkRemoval: () => Promise.resolve(),
  checkSegmentEdit: () => Promise.resolve(),
  checkDisconnection: () => Promise.resolve(),
  markBypass: (event) => event,
};

const idIn = ({ data, preData }: DomainEvent): unknown => memberOf(data, 'id') ?? memberOf(preData, 'id');

/**
 * Refuses direct edits of protected environments, which require a change request. The repositories call it in each write that can be such
 * an edit, so that no operation can omit it.
 */
export const protectionGuard = (
  caller: Caller,
  protection: Pick<ReturnType<typeof protectionRepository>, 'protectedOf'>,
) => {
  // Read once for each project and transaction, however many features it edits.
  const cache = new Map<string, Promise<readonly string[]>>();
  const protectedOf = (project: string): Promise<readonly string[]> => {
    const environments = cache.get(project) ?? protection.protectedOf(project);
    cache.set(project, environments);
    return environments;
  };
  const bypasses: Bypass[] = [];
  const addBypass = (environments: readonly string[], concerns: Bypass['concerns']): void => {
    if (environments.length > 0) bypasses.push({ environments, concerns });
  };
  const isAbout =
    (feature: string): Bypass['concerns'] =>
    ({ featureName }) =>
      featureName === feature;
  const check = async (edit: ProtectedEdit, concerns: Bypass['concerns']): Promise<void> => {
    if (edit.environments.length === 0 && !edit.allEnvironments) return;
    addBypass(requireSkipPermission(edit, await protectedOf(edit.project), caller), concerns);
  };
  const requireUnprotected = async (
    action: 'Cloning' | 'Changing project',
    feature: string,
    project: string,
  ): Promise<void> => {
    const environments = await protectedOf(project);
    requireUnprotectedProject(action, project, environments, caller);
    addBypass(environments, isAbout(feature));
  };
  const checkMove = async ({ name, project }: Feature, to: string): Promise<void> => {
    for (const one of [project, to]) await requireUnprotected('Changing project', name, one);
  };

  return {
    /** Caches the protected environments of a project that another statement has read. */
    cacheProtected: (project: string, environments: readonly string[]): void =>
      void cache.set(project, Promise.resolve(environments)),
    /**
     * Refuses to clone a feature into a project with protected environments, in the words of that operation; the check of the addition
     * would come later.
     * @throws Refusal `ForbiddenError`.
     */
    checkClone: (clone: string, project: string): Promise<void> => requireUnprotected('Cloning', clone, project),
    /**
     * Refuses to move a feature into a project with protected environments, or out of one: there it could be edited without change
     * request.
     * @throws Refusal `ForbiddenError`.
     */
    checkMove,
    /** Refuses to add a feature with settings in protected environments. */
    checkAddition: (added: Feature): Promise<void> => check(protectedAddition(added), isAbout(added.name)),
    /** Refuses an edit of a feature that requires a change request, judged by the difference and not by the operation. */
    checkEdit: async (before: Feature, after: Feature): Promise<void> => {
      if (before.project !== after.project) await checkMove(before, after.project);
      await check(protectedEdit(before, after), isAbout(before.name));
    },
    /** Refuses to remove a feature that is not archived. */
    checkRemoval: (removed: Feature): Promise<void> => check(protectedRemoval(removed), isAbout(removed.name)),
    /** Refuses an edit of a segment of protected projects, in all of whose environments it may be used. Global segments are not protected. */
    checkSegmentEdit: async (id: number, projects: readonly (string | null)[]): Promise<void> => {
      const concerns = (event: DomainEvent) => event.type.startsWith('segment-') && idIn(event) === id;
      for (const project of new Set(projects)) {
        if (project !== null) await check({ project, environments: [], allEnvironments: true }, concerns);
      }
    },
    /** Refuses to disconnect a protected environment from a project, which removes its strategies and its protection. */
    checkDisconnection: (project: string, environment: string): Promise<void> =>
      check(
        { project, environments: [environment], allEnvironments: false },
        (event) => event.type === 'project-environment-removed' && event.project === project,
      ),
    /** The event, marked with `bypassedChangeRequest` if it belongs to an edit that was allowed to skip a change request. */
    markBypass: (event: DomainEvent): DomainEvent => {
      const { environment = null } = event;
      const isBypass = bypasses.some(
        ({ environments, concerns }) => concerns(event) && (environment === null || environments.includes(environment)),
      );
      return isBypass ? { ...event, data: { ...asJsonObject(event.data), bypassedChangeRequest: true } } : event;
    },
  };
};
export type ProtectionGuard = ReturnType<typeof protectionGuard>;
