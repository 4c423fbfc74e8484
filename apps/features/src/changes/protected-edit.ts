import { asJsonObject, type Caller, isEqual, may, memberOf, noAccess, refusal } from '@bunting/contracts';
import { disabledEverywhere, type DomainEvent, type Feature, inEnvironment } from '../features/feature.ts';
import { shortName } from '../refusals.ts';

/** The parts of an edit that need a change request in a protected environment. */
export interface ProtectedEdit {
  readonly project: string;
  /** the environments in which the switch, the strategies or the variants differ */
  readonly environments: readonly string[];
  /** whether the edit affects every environment: archiving and dependencies do */
  readonly allEnvironments: boolean;
}

/**
 * The parts of an edit that change requests protect. Names, descriptions and tags are not protected, nor is reviving, because a revived
 * feature is off. The strategies, variants and dependencies that an archived feature has come back with it: they are protected as well.
 */
export function protectedEdit(before: Feature, after: Feature): ProtectedEdit {
  const isArchived = before.archivedAt !== null;
  const [earlier, later] = isArchived ? [disabledEverywhere(before), disabledEverywhere(after)] : [before, after];
  const names = new Set([...Object.keys(earlier.environments), ...Object.keys(later.environments)]);
  return {
    project: before.project,
    environments: [...names].filter((name) => !isEqual(inEnvironment(earlier, name), inEnvironment(later, name))),
    allEnvironments: (!isArchived && after.archivedAt !== null) || !isEqual(before.dependencies, after.dependencies),
  };
}

/** The feature without what change requests protect. */
export function withoutProtectedParts(feature: Feature): Feature {
  return {
    ...feature,
    environments: {},
    dependencies: [],
  };
}

/** The edit of a feature that is added: that of its settings, so that a feature without any needs no change request. */
export function protectedAddition(added: Feature): ProtectedEdit {
  return protectedEdit(withoutProtectedParts(added), added);
}

/** The edit of a feature that is removed: none if it is archived. */
export function protectedRemoval({ project, archivedAt }: Feature): ProtectedEdit {
  return {
    project,
    environments: [],
    allEnvironments: archivedAt === null,
  };
}

/** An environment of a project in which an active feature has a strategy with a segment. */
export interface SegmentPlace {
  readonly project: string;
  readonly environment: string;
}

/**
 * The edits of a segment: in every environment of the project that it belongs to before and after, since it may be used there next, and
 * wherever else it is used.
 */
export function protectedSegmentEdits(
  projects: readonly (string | null)[],
  uses: readonly SegmentPlace[],
): readonly ProtectedEdit[] {
  const owners = new Set(projects.filter((project) => project !== null));
  const usesElsewhere = Map.groupBy(
    uses.filter(({ project }) => !owners.has(project)),
    ({ project }) => project,
  );
  return [
    ...[...owners].map((project) => ({ project, environments: [], allEnvironments: true })),
    ...[...usesElsewhere].map(([project, places]) => ({
      project,
      environments: places.map(({ environment }) => environment),
      allEnvironments: false,
    })),
  ];
}

/** The protected environments that an edit affects. An edit without an environment affects all of them. */
export function protectedEnvironmentsOfEdit(
  { environments, allEnvironments }: ProtectedEdit,
  protectedEnvironments: readonly string[],
): readonly string[] {
  return protectedEnvironments.filter((name) => allEnvironments || environments.includes(name));
}

/** The protected environments of a project in which the caller may not skip change requests. */
export function environmentsRequiringChangeRequest(
  caller: Caller,
  project: string,
  protectedEnvironments: readonly string[],
): readonly string[] {
  return protectedEnvironments.filter((environment) => !may(caller, ['SKIP_CHANGE_REQUEST'], { project, environment }));
}

function maySkip(caller: Caller, project: string, protectedEnvironments: readonly string[]): boolean {
  return environmentsRequiringChangeRequest(caller, project, protectedEnvironments).length === 0;
}

/** Refuses an edit that affects these protected environments, unless the caller may skip change requests in them. */
export function requireSkipPermission(caller: Caller, project: string, protectedEnvironments: readonly string[]): void {
  if (!maySkip(caller, project, protectedEnvironments)) throw noAccess(['SKIP_CHANGE_REQUEST']);
}

/**
 * Refuses to clone a feature into a project, or to move one into or out of it, if the caller may not skip the project's change requests.
 */
export function requireUnprotectedProject(
  action: 'Cloning' | 'Changing project',
  project: string,
  protectedEnvironments: readonly string[],
  caller: Caller,
): void {
  if (maySkip(caller, project, protectedEnvironments)) return;
  throw refusal('ForbiddenError', `${action} not allowed. Project ${shortName(project)} has change requests enabled.`);
}

/** What an edit changes, by which its events are recognised. */
export type EditedObject =
  | { readonly kind: 'feature'; readonly name: string }
  | { readonly kind: 'segment'; readonly id: number }
  | { readonly kind: 'environments-of-project'; readonly project: string };

/** An edit that was allowed to skip change requests, with the protected environments that it affects. */
export interface ChangeRequestBypass {
  readonly edited: EditedObject;
  readonly environments: readonly string[];
}

function isAbout(edited: EditedObject, { type, project, featureName, data, preData }: DomainEvent): boolean {
  switch (edited.kind) {
    case 'feature':
      return featureName === edited.name;
    case 'segment':
      return type.startsWith('segment-') && (memberOf(data, 'id') ?? memberOf(preData, 'id')) === edited.id;
    case 'environments-of-project':
      return type === 'project-environment-removed' && project === edited.project;
  }
}

/** The event, marked with `bypassedChangeRequest` if it belongs to an edit that was allowed to skip change requests. */
export function markBypass(event: DomainEvent, bypasses: readonly ChangeRequestBypass[]): DomainEvent {
  const { environment = null } = event;
  const isBypass = bypasses.some(
    ({ edited, environments }) =>
      isAbout(edited, event) && (environment === null || environments.includes(environment)),
  );
  return isBypass ? { ...event, data: { ...asJsonObject(event.data), bypassedChangeRequest: true } } : event;
}
