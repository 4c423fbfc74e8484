import {
  type Caller,
  type CreatedProject,
  type CreateProjectBody,
  type Environment,
  isAdministrator,
  isEqual,
  type ProjectSettingsBody,
  type Refusal,
  refusal,
  type UpdateProjectBody,
} from '@bunting/contracts';
import { RE2JS } from 're2js';
import type { DomainEvent } from '../features/feature.ts';
import { type FeatureNaming, requireMatchingName, requireUrlFriendlyName } from '../names.ts';
import { emptyValue, unknownEnvironment } from '../refusals.ts';

/** A group of features, with its settings. */
export interface StoredProject {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly mode: 'open' | 'protected' | 'private';
  readonly defaultStickiness: string;
  readonly featureLimit: number | null;
  readonly featureNaming: FeatureNaming | null;
}

/** 409: the id belongs to a project, or to a private one that was deleted. The response does not distinguish the two. */
export function projectIdTaken(): Refusal {
  return refusal('NameExistsError', 'A project with this id already exists.');
}

/**
 * Whether the caller may create a project under the id of a private project that was deleted. The history of the deleted project belongs to
 * the id, so only administrators, who can read that history anyway, may reuse the id.
 */
export function mayReuseIds(caller: Caller): boolean {
  return isAdministrator(caller);
}

/** The project after a change, and its events. An unchanged project is returned as is, without events. */
export interface ProjectDecision {
  readonly project: StoredProject;
  readonly events: readonly DomainEvent[];
}

function decideUpdate(before: StoredProject, after: StoredProject): ProjectDecision {
  return isEqual(after, before)
    ? { project: before, events: [] }
    : { project: after, events: [{ type: 'project-updated', project: before.id, data: after, preData: before }] };
}

/** A project with the settings that both updates of a project change. Omitted settings do not change. */
function withSettings(
  project: StoredProject,
  { mode, defaultStickiness, featureLimit }: Pick<ProjectSettingsBody, 'mode' | 'defaultStickiness' | 'featureLimit'>,
): StoredProject {
  return {
    ...project,
    mode: mode ?? project.mode,
    defaultStickiness: defaultStickiness || project.defaultStickiness,
    featureLimit: featureLimit === undefined ? project.featureLimit : featureLimit,
  };
}

/** Changes the name, the description and the settings of a project. Omitted properties do not change. */
export function updateProject(project: StoredProject, body: UpdateProjectBody): ProjectDecision {
  const name = body.name.trim();
  if (name === '') throw emptyValue('/body/name');
  return decideUpdate(project, {
    ...withSettings(project, body),
    name,
    description: body.description === undefined ? project.description : body.description || null,
  });
}

function patternError(message: string, member: 'pattern' | 'example' | 'description') {
  const path = `/body/featureNaming/${member}`;
  return refusal('PatternError', `${message}: see the \`${path}\` property.`, { details: [{ message, path }] });
}

const blank = /[ \t\n\r\f\v]|\\[stnrfv]/;

/**
 * Validates a naming pattern and returns its stored form, or null if there is none. The pattern must be evaluated in linear time, and match
 * its example.
 */
export function normalizeNaming({ pattern, example, description }: FeatureNaming): FeatureNaming | null {
  if (!pattern) {
    if (example) throw patternError('An example needs a pattern that it shows', 'example');
    if (description) throw patternError('A description needs a pattern that it describes', 'description');
    return null;
  }
  if (blank.test(pattern)) throw patternError('A pattern may not hold blanks: no name has any', 'pattern');
  const naming = { pattern, example: example || null, description: description || null };
  try {
    RE2JS.compile(`^(?:${pattern})$`);
  } catch {
    throw patternError('The pattern is not a regular expression of RE2', 'pattern');
  }
  if (naming.example !== null) requireMatchingName(naming.example, { pattern }, '/body/featureNaming/example');
  return naming;
}

/** Changes the settings and the naming pattern of a project. Omitted properties do not change. */
export function updateProjectSettings(project: StoredProject, body: ProjectSettingsBody): ProjectDecision {
  return decideUpdate(project, {
    ...withSettings(project, body),
    featureNaming: body.featureNaming === undefined ? project.featureNaming : normalizeNaming(body.featureNaming),
  });
}

/** A project with what decides whether it can be archived or deleted. */
export interface ProjectToArchiveOrDelete {
  readonly project: StoredProject;
  readonly activeFeatures: number;
}

/** 403: the project has active features, which archiving or deleting it would take from their users. */
export function activeFeaturesRefused(action: 'archive' | 'delete'): Refusal {
  return refusal('InvalidOperationError', `You can not ${action} a project with active feature flags`);
}

/** Archives a project without active features. Returns the event. */
export function archiveProject({ project, activeFeatures }: ProjectToArchiveOrDelete): DomainEvent {
  if (activeFeatures > 0) throw activeFeaturesRefused('archive');
  return { type: 'project-archived', project: project.id };
}

/** Revives an archived project. Returns the event. */
export function reviveProject({ id }: StoredProject): DomainEvent {
  return { type: 'project-revived', project: id };
}

/** Deletes a project without active features, but never the project `default`. Returns the event. */
export function deleteProject({ project, activeFeatures }: ProjectToArchiveOrDelete): DomainEvent {
  if (project.id === 'default') throw refusal('InvalidOperationError', 'You can not delete the default project!');
  if (activeFeatures > 0) throw activeFeaturesRefused('delete');
  return { type: 'project-deleted', project: project.id };
}

const maxGeneratedIdLength = 80;

/** A readable id made from the name of a project. */
function idFrom(name: string): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9\s_-]/g, '')
    .split(/[\s_-]+/)
    .filter((word) => word !== '');
  return words.join('-').slice(0, maxGeneratedIdLength) || 'project';
}

/** The id of a new project, and whether the request names it. */
export interface ProposedProjectId {
  readonly id: string;
  readonly isRequested: boolean;
}

/** The id that a request names, or else one made from the name of the project. */
export function proposedProjectId(body: CreateProjectBody): ProposedProjectId {
  if (body.name.trim() === '') throw emptyValue('/body/name');
  const requested = body.id?.trim() ?? '';
  if (requested === '') return { id: idFrom(body.name), isRequested: false };
  requireUrlFriendlyName(requested, '/body/id');
  return { id: requested, isRequested: true };
}

/** The stored facts on which a new project depends. */
export interface NewProjectContext {
  /** whether a project has the proposed id */
  readonly isTaken: boolean;
  /** whether a deleted private project had the proposed id */
  readonly isReserved: boolean;
  /** all environments, by sort order */
  readonly environments: readonly Environment[];
}

/** The environments that the request names, or else those that are enabled. */
function environmentsOf({ environments: requested }: CreateProjectBody, existing: readonly Environment[]): string[] {
  if (requested === undefined) return existing.filter(({ enabled }) => enabled).map(({ name }) => name);
  for (const [index, name] of requested.entries()) {
    const exists = existing.some((environment) => environment.name === name);
    if (!exists) throw unknownEnvironment(name, `/body/environments/${index}`);
  }
  return existing.filter(({ name }) => requested.includes(name)).map(({ name }) => name);
}

export interface NewProjectDecision {
  readonly project: CreatedProject;
  readonly events: readonly DomainEvent[];
}

/**
 * A new project. An id that was made from its name gets the suffix if another project has or had it; whether the caller may reuse a
 * requested id of a deleted project is decided when the project is stored.
 */
export function newProject(
  body: CreateProjectBody,
  { id, isRequested }: ProposedProjectId,
  { isTaken, isReserved, environments }: NewProjectContext,
  suffix: string,
): NewProjectDecision {
  if (isTaken && isRequested) throw projectIdTaken();
  const project: CreatedProject = {
    id: !isRequested && (isTaken || isReserved) ? `${id}-${suffix}` : id,
    name: body.name.trim(),
    description: body.description || null,
    mode: body.mode ?? 'open',
    defaultStickiness: body.defaultStickiness || 'default',
    environments: environmentsOf(body, environments),
    featureLimit: body.featureLimit ?? null,
  };
  return { project, events: [{ type: 'project-created', project: project.id, data: project }] };
}
