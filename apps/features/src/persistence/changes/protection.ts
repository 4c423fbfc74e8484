import type { Caller } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import type { DomainEvent, Feature } from '../../domain/feature.ts';
import { guardedEdit, requireOpenProject, requireSkipping } from '../../domain/protection.ts';

/** SQL: the protected environments of a project that are linked to it now. */
export const protectedOfProject = (project: string): string => `
  select environment from protected_environment guarded where project = ${project} and is_protected and exists (
    select from project_environment linked
    where linked.project = guarded.project and linked.environment = guarded.environment)`;

const set = `
  insert into protected_environment values ($1, $2, $3, $4)
  on conflict (project, environment) do update set is_protected = excluded.is_protected, version = excluded.version
  where protected_environment.version < excluded.version`;

/** Where edits take a change request, within a unit of work. */
export const protectionRepository = ({ query }: Tx) => ({
  /** The protected environments that the project has now: what is not linked any more protects nothing. */
  protectedOf: async (project: string): Promise<string[]> =>
    (await query<{ environment: string }>(protectedOfProject('$1'), [project])).map(({ environment }) => environment),
  /** Remembers what was said last. */
  set: async ({
    project,
    environment,
    isProtected,
    version,
  }: {
    project: string;
    environment: string;
    isProtected: boolean;
    version: number;
  }): Promise<void> => {
    await query(set, [project, environment, isProtected, version]);
  },
});
export type ProtectionRepository = ReturnType<typeof protectionRepository>;

/** What somebody was let past, in whichever environments: their edit is told as such. */
interface Bypass {
  readonly environments: readonly string[];
  readonly isAbout: (event: DomainEvent) => boolean;
}

/** What was agreed on in a change request finds every door open. */
export const noGuard: Guard = {
  know: () => undefined,
  edit: () => Promise.resolve(),
  segment: () => Promise.resolve(),
  arrival: () => Promise.resolve(),
  departure: () => Promise.resolve(),
  disconnection: () => Promise.resolve(),
  told: (event) => event,
};

const membersOf = (document: unknown): object =>
  typeof document === 'object' && document !== null && !Array.isArray(document) ? document : {};

const idIn = ({ data, preData }: DomainEvent): unknown =>
  new Map(Object.entries({ ...membersOf(preData), ...membersOf(data) })).get('id');

/** Stands before everything that takes a change request where there is protection, whichever operation it comes by. */
export const guardFor = (caller: Caller, protection: Pick<ProtectionRepository, 'protectedOf'>) => {
  // Asked once for each project within a unit of work, however many features it edits.
  const request = new Map<string, Promise<readonly string[]>>();
  const protectedOf = (project: string): Promise<readonly string[]> => {
    const known = request.get(project) ?? protection.protectedOf(project);
    request.set(project, known);
    return known;
  };
  const bypasses: Bypass[] = [];
  const remember = (environments: readonly string[], isAbout: Bypass['isAbout']): void => {
    if (environments.length > 0) bypasses.push({ environments, isAbout });
  };
  const requireOpen = async (what: 'Cloning' | 'Changing project', feature: string, project: string): Promise<void> => {
    const guarded = await protectedOf(project);
    requireOpenProject(what, project, guarded, caller);
    remember(guarded, ({ featureName }) => featureName === feature);
  };

  return {
    /** What was found on the way about a project, so that it need not be asked for. */
    know: (project: string, protectedEnvironments: readonly string[]): void =>
      void request.set(project, Promise.resolve(protectedEnvironments)),
    /** Refuses to store an edit that takes a change request: what counts is what would differ, not the path it came by. */
    edit: async (before: Feature, after: Feature): Promise<void> => {
      const edit = guardedEdit(before, after);
      if (edit.environments.length === 0 && !edit.everywhere) return;
      const guarded = requireSkipping(edit, await protectedOf(edit.project), caller);
      remember(guarded, ({ featureName }) => featureName === before.name);
    },
    /** The same for a segment of projects: it is in effect wherever it is used. One for every project is nobody's in particular. */
    segment: async (id: number, projects: readonly (string | null)[]): Promise<void> => {
      for (const project of new Set(projects)) {
        if (project === null) continue;
        const edit = { project, environments: [], everywhere: true };
        const guarded = requireSkipping(edit, await protectedOf(project), caller);
        remember(guarded, (event) => event.type.startsWith('segment-') && idIn(event) === id);
      }
    },
    /** Refuses to bring a feature with its strategies into a project that takes change requests for them, past those. */
    arrival: requireOpen,
    /**
     * Refuses to take a feature out of a project that takes change requests: where it goes, it could be edited without one.
     * @throws Refusal `ForbiddenError`.
     */
    departure: (feature: string, project: string): Promise<void> => requireOpen('Changing project', feature, project),
    /**
     * Refuses to disconnect a protected environment from a project: its strategies are removed, and its protection with the link.
     * Must run before the link is removed.
     * @throws Refusal `NoAccessError`.
     */
    disconnection: async (project: string, environment: string): Promise<void> => {
      const edit = { project, environments: [environment], everywhere: false };
      const guarded = requireSkipping(edit, await protectedOf(project), caller);
      remember(guarded, (event) => event.type === 'project-environment-removed' && event.project === project);
    },
    /** An event as it is told: that a change request was skipped is part of it. */
    told: (event: DomainEvent): DomainEvent => {
      const { environment = null } = event;
      const isBypass = bypasses.some(
        ({ environments, isAbout }) => isAbout(event) && (environment === null || environments.includes(environment)),
      );
      return isBypass ? { ...event, data: { ...membersOf(event.data), bypassedChangeRequest: true } } : event;
    },
  };
};
export type Guard = ReturnType<typeof guardFor>;
