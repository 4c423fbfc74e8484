import type { Caller, ReplyOf, RequestOf, SetProtection } from '@bunting/contracts';
import { onlyRow, type Tx } from '@bunting/database';
import {
  type ChangeRequestBypass,
  type EditedObject,
  markBypass,
  protectedAddition,
  type ProtectedEdit,
  protectedEdit,
  protectedEnvironmentsOfEdit,
  protectedRemoval,
  protectedSegmentEdits,
  requireSkipPermission,
  requireUnprotectedProject,
  type SegmentPlace,
} from '../changes/protected-edit.ts';
import type { DomainEvent, Feature } from '../features/feature.ts';
import { notAuthorisedIn } from '../refusals.ts';

/** Who edits: a caller directly, or a change request, with the environments of its project for which it was approved. */
export type Editor =
  | { readonly kind: 'caller'; readonly caller: Caller }
  | { readonly kind: 'change request'; readonly project: string; readonly authorisedEnvironments: readonly string[] };

/**
 * Refuses direct edits of protected environments, which require a change request, and edits of a change request where it was not approved.
 * The repositories call it in each write that can be such an edit, so that no operation can omit it.
 */
export function protectionGuard(
  editor: Editor,
  protectionCopy: Pick<ReturnType<typeof protectionCopyRepository>, 'protectedEnvironmentsOf' | 'protectedUsesOf'>,
) {
  // Read once for each project and transaction, however many features it edits.
  const cache = new Map<string, Promise<readonly string[]>>();
  const protectedOf = (project: string): Promise<readonly string[]> => {
    const environments = cache.get(project) ?? protectionCopy.protectedEnvironmentsOf(project);
    cache.set(project, environments);
    return environments;
  };
  const bypasses: ChangeRequestBypass[] = [];
  const addBypass = (edited: EditedObject, environments: readonly string[]): void => {
    if (editor.kind === 'caller' && environments.length > 0) bypasses.push({ edited, environments });
  };
  const requireAllowed = (project: string, environments: readonly string[]): void => {
    if (editor.kind === 'caller') return requireSkipPermission(editor.caller, project, environments);
    const authorised = project === editor.project ? editor.authorisedEnvironments : [];
    const environment = environments.find((name) => !authorised.includes(name));
    if (environment !== undefined) throw notAuthorisedIn(environment);
  };
  const check = async (edit: ProtectedEdit, edited: EditedObject): Promise<void> => {
    if (edit.environments.length === 0 && !edit.allEnvironments) return;
    const environments = protectedEnvironmentsOfEdit(edit, await protectedOf(edit.project));
    requireAllowed(edit.project, environments);
    addBypass(edited, environments);
  };
  const requireUnprotected = async (
    action: 'Cloning' | 'Changing project',
    feature: string,
    project: string,
  ): Promise<void> => {
    const environments = await protectedOf(project);
    if (editor.kind === 'caller') requireUnprotectedProject(action, project, environments, editor.caller);
    else requireAllowed(project, environments);
    addBypass({ kind: 'feature', name: feature }, environments);
  };
  const checkMove = async ({ name, project }: Feature, to: string): Promise<void> => {
    for (const affected of [project, to]) await requireUnprotected('Changing project', name, affected);
  };

  return {
    /** Caches the protected environments of a project that another statement has read. */
    cacheProtected: (project: string, environments: readonly string[]): void =>
      void cache.set(project, Promise.resolve(environments)),
    /**
     * Refuses to clone a feature into a project with protected environments, with the error of that operation. The check of the addition
     * would refuse it later, with another error.
     * @throws Refusal `ForbiddenError`.
     */
    checkClone: (clone: string, project: string): Promise<void> => requireUnprotected('Cloning', clone, project),
    /**
     * Refuses to move a feature into a project with protected environments, or out of one: in the other project it could be edited without
     * a change request.
     * @throws Refusal `ForbiddenError`.
     */
    checkMove,
    /** Refuses to add a feature with settings in protected environments. */
    checkAddition: (added: Feature): Promise<void> =>
      check(protectedAddition(added), { kind: 'feature', name: added.name }),
    /** Refuses an edit of a feature that requires a change request: what differs decides, whatever the operation. */
    checkEdit: async (before: Feature, after: Feature): Promise<void> => {
      if (before.project !== after.project) await checkMove(before, after.project);
      await check(protectedEdit(before, after), { kind: 'feature', name: before.name });
    },
    /** Refuses to remove a feature that is not archived. */
    checkRemoval: (removed: Feature): Promise<void> =>
      check(protectedRemoval(removed), { kind: 'feature', name: removed.name }),
    /** Refuses an edit of a segment of protected projects, or of one that is used in protected environments. */
    checkSegmentEdit: async (id: number, projects: readonly (string | null)[]): Promise<void> => {
      const edits = protectedSegmentEdits(projects, await protectionCopy.protectedUsesOf(id));
      for (const edit of edits) await check(edit, { kind: 'segment', id });
    },
    /** Refuses to give features of a project settings in an environment that is protected. */
    checkSettings: (project: string, environment: string): Promise<void> =>
      check(
        { project, environments: [environment], allEnvironments: false },
        { kind: 'environments-of-project', project },
      ),
    /** Refuses to disconnect a protected environment from a project, which removes its strategies and its protection. */
    checkDisconnection: (project: string, environment: string): Promise<void> =>
      check(
        { project, environments: [environment], allEnvironments: false },
        { kind: 'environments-of-project', project },
      ),
    markBypass: (event: DomainEvent): DomainEvent => markBypass(event, bypasses),
  };
}

export type ProtectionGuard = ReturnType<typeof protectionGuard>;

/** SQL: the protected environments that are connected to a project. */
export function selectProtectedEnvironments(project: string): string {
  return `
  select environment from protected_environment protection where project = ${project} and is_protected and exists (
    select from project_environment connection
    where connection.project = protection.project and connection.environment = protection.environment)`;
}

/** The protected environments in which active features use the segment `$1`: each is left at its first such feature. */
export const selectProtectedUses = `
  select project, environment from protected_environment used
  where environment in (${selectProtectedEnvironments('used.project')}) and exists (
    select from feature f
    where f.project = used.project and f.segment_ids @> array[$1::integer] and f.segment_ids <> '{}' and f.archived_at is null
      and jsonb_path_exists(f.environments -> used.environment, '$.strategies[*].segments[*] ? (@ == $id)',
        jsonb_build_object('id', $1::integer)))
  order by project, environment`;

/**
 * Stores the protection unless a newer version is stored, and returns the stored one. The entity manager cannot compare versions in an
 * upsert.
 */
const upsertIfNewer = `
  insert into protected_environment (project, environment, is_protected, version) values ($1, $2, $3, $4)
  on conflict (project, environment) do update set
    is_protected = case when protected_environment.version < excluded.version then excluded.is_protected else protected_environment.is_protected end,
    version = greatest(protected_environment.version, excluded.version)
  returning is_protected as "isProtected", version`;

/** The copy of which environments of projects require change requests; the change requests service decides and reports it. */
export function protectionCopyRepository({ query }: Tx) {
  return {
    /** The protected environments that are connected to a project. */
    protectedEnvironmentsOf: async (project: string): Promise<string[]> =>
      (await query<{ environment: string }>(selectProtectedEnvironments('$1'), [project])).map(
        ({ environment }) => environment,
      ),
    /** The protected environments in which active features use a segment. */
    protectedUsesOf: (segment: number): Promise<SegmentPlace[]> => query<SegmentPlace>(selectProtectedUses, [segment]),
    /** Stores the protection of an environment, unless a newer version is stored already; returns what is stored then. */
    setIfNewer: async ({
      project,
      environment,
      isProtected,
      version,
    }: RequestOf<typeof SetProtection>['body']): Promise<ReplyOf<typeof SetProtection>> => {
      const values = [project, environment, isProtected, version];
      return onlyRow(await query<ReplyOf<typeof SetProtection>>(upsertIfNewer, values), 'that stores a protection');
    },
  };
}
