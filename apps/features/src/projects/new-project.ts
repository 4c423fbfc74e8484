import type { CreatedProject, CreateProjectBody, Environment } from '@bunting/contracts';
import type { DomainEvent } from '../features/feature.ts';
import { requireUrlFriendlyName } from '../names.ts';
import { emptyValue, unknownEnvironment } from '../refusals.ts';
import { projectIdTaken } from './project.ts';

const maxGeneratedIdLength = 80;

/** A readable id made from the name of a project. */
const idFrom = (name: string): string => {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9\s_-]/g, '')
    .split(/[\s_-]+/)
    .filter((word) => word !== '');
  return words.join('-').slice(0, maxGeneratedIdLength) || 'project';
};

/** The id of a new project, and whether the request names it. */
export interface ProposedProjectId {
  readonly id: string;
  readonly isRequested: boolean;
}

/** The id that a request names, or else one made from the name of the project. */
export const proposedProjectId = (body: CreateProjectBody): ProposedProjectId => {
  if (body.name.trim() === '') throw emptyValue('/body/name');
  const requested = body.id?.trim() ?? '';
  if (requested === '') return { id: idFrom(body.name), isRequested: false };
  requireUrlFriendlyName(requested, '/body/id');
  return { id: requested, isRequested: true };
};

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
const environmentsOf = ({ environments: requested }: CreateProjectBody, existing: readonly Environment[]): string[] => {
  if (requested === undefined) return existing.filter(({ enabled }) => enabled).map(({ name }) => name);
  for (const [index, name] of requested.entries()) {
    const exists = existing.some((environment) => environment.name === name);
    if (!exists) throw unknownEnvironment(name, `/body/environments/${index}`);
  }
  return existing.filter(({ name }) => requested.includes(name)).map(({ name }) => name);
};

/** A new project and its events. */
export interface NewProjectDecision {
  readonly project: CreatedProject;
  readonly events: readonly DomainEvent[];
}

/**
 * A new project. An id that was made from its name gets the suffix if another project has or had it; whether the caller may reuse a
 * requested id of a deleted project is decided when the project is stored.
 */
export const newProject = (
  body: CreateProjectBody,
  { id, isRequested }: ProposedProjectId,
  { isTaken, isReserved, environments }: NewProjectContext,
  suffix: string,
): NewProjectDecision => {
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
};
