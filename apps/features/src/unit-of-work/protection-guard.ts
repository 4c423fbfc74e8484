import type { Caller } from '@bunting/contracts';
import type { DomainEvent, Feature } from '../features/feature.ts';
import { type ChangeRequestBypass, type EditedObject, markBypass } from '../changes/change-request-bypass.ts';
import {
  protectedAddition,
  type ProtectedEdit,
  protectedEdit,
  protectedRemoval,
  protectedSegmentEdits,
  requireUnprotectedProject,
  protectedEnvironmentsOfEdit,
  requireSkipPermission,
} from '../changes/protected-edit.ts';
import { notAuthorisedIn } from '../refusals.ts';
import { type protectionCopyRepository } from './protection-copy-repository.ts';

/** Who edits: a caller directly, or a change request, with the environments of its project for which it was approved. */
export type Editor =
  | { readonly kind: 'caller'; readonly caller: Caller }
  | { readonly kind: 'change request'; readonly project: string; readonly authorisedEnvironments: readonly string[] };

/**
 * Refuses direct edits of protected environments, which require a change request, and edits of a change request where it was not approved.
 * The repositories call it in each write that can be such an edit, so that no operation can omit it.
 */
export const protectionGuard = (
  editor: Editor,
  protectionCopy: Pick<ReturnType<typeof protectionCopyRepository>, 'protectedEnvironmentsOf' | 'protectedUsesOf'>,
) => {
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
    /** Refuses to disconnect a protected environment from a project, which removes its strategies and its protection. */
    checkDisconnection: (project: string, environment: string): Promise<void> =>
      check(
        { project, environments: [environment], allEnvironments: false },
        { kind: 'environments-of-project', project },
      ),
    markBypass: (event: DomainEvent): DomainEvent => markBypass(event, bypasses),
  };
};

export type ProtectionGuard = ReturnType<typeof protectionGuard>;
