import { asJsonObject, type Caller, type ReplyOf, type SetProtection, type RequestOf } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import type { DomainEvent, Feature } from '../../domain/features/feature.ts';
import { protectedEdit, requireUnprotectedProject, requireSkipPermission } from '../../domain/projects/protection.ts';

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
    const [stored] = await query<ReplyOf<typeof SetProtection>>(set, values);
    return stored ?? { isProtected, version };
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
  checkEdit: () => Promise.resolve(),
  checkSegmentEdit: () => Promise.resolve(),
  requireUnprotectedTarget: () => Promise.resolve(),
  requireUnprotectedSource: () => Promise.resolve(),
  checkDisconnection: () => Promise.resolve(),
  markBypass: (event) => event,
};

const idIn = ({ data, preData }: DomainEvent): unknown =>
  new Map(Object.entries({ ...asJsonObject(preData), ...asJsonObject(data) })).get('id');

/** Refuses direct edits of protected environments, which require a change request, in any operation. */
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
  const requireUnprotected = async (
    action: 'Cloning' | 'Changing project',
    feature: string,
    project: string,
  ): Promise<void> => {
    const environments = await protectedOf(project);
    requireUnprotectedProject(action, project, environments, caller);
    addBypass(environments, ({ featureName }) => featureName === feature);
  };

  return {
    /** Caches the protected environments of a project that another statement has read. */
    cacheProtected: (project: string, environments: readonly string[]): void =>
      void cache.set(project, Promise.resolve(environments)),
    /** Refuses an edit of a feature that requires a change request, judged by the difference and not by the operation. */
    checkEdit: async (before: Feature, after: Feature): Promise<void> => {
      const edit = protectedEdit(before, after);
      if (edit.environments.length === 0 && !edit.allEnvironments) return;
      const bypassed = requireSkipPermission(edit, await protectedOf(edit.project), caller);
      addBypass(bypassed, ({ featureName }) => featureName === before.name);
    },
    /** Refuses an edit of a segment of protected projects, in all of whose environments it may be used. Global segments are not protected. */
    checkSegmentEdit: async (id: number, projects: readonly (string | null)[]): Promise<void> => {
      for (const project of new Set(projects)) {
        if (project === null) continue;
        const edit = { project, environments: [], allEnvironments: true };
        const bypassed = requireSkipPermission(edit, await protectedOf(project), caller);
        addBypass(bypassed, (event) => event.type.startsWith('segment-') && idIn(event) === id);
      }
    },
    /** Refuses to clone or move a feature with strategies into a project with protected environments. */
    requireUnprotectedTarget: requireUnprotected,
    /**
     * Refuses to move a feature out of a project with protected environments: in its new project it could be edited without
     * change request.
     * @throws Refusal `ForbiddenError`.
     */
    requireUnprotectedSource: (feature: string, project: string): Promise<void> =>
      requireUnprotected('Changing project', feature, project),
    /**
     * Refuses to disconnect a protected environment from a project, which removes its strategies and its protection. Must run
     * before the environment is disconnected.
     * @throws Refusal `NoAccessError`.
     */
    checkDisconnection: async (project: string, environment: string): Promise<void> => {
      const edit = { project, environments: [environment], allEnvironments: false };
      const bypassed = requireSkipPermission(edit, await protectedOf(project), caller);
      addBypass(bypassed, (event) => event.type === 'project-environment-removed' && event.project === project);
    },
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
