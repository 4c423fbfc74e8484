import { implement } from '@bunting/bus';
import { CreateProject, type CreateProjectBody, type Environment, invalid } from '@bunting/contracts';
import { randomBytes } from 'node:crypto';
import { requireUrlFriendlyName } from '../../domain/names.ts';
import { projectIdTaken } from '../../domain/projects/project.ts';
import { shortName, limitExceeded } from '../../domain/refusals.ts';
import { limits } from '../../domain/project-context.ts';
import { authoriseAtRoot } from '../authorise-at-root.ts';
import type { FeaturesContext } from '../context.ts';

/** A readable id made from the name of a project. */
const idFrom = (name: string): string => {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9\s_-]/g, '')
    .split(/[\s_-]+/)
    .filter((word) => word !== '');
  return words.join('-').slice(0, 80) || 'project';
};

const connected = ({ environments: requested }: CreateProjectBody, existing: readonly Environment[]): string[] => {
  if (requested === undefined) return existing.filter(({ enabled }) => enabled).map(({ name }) => name);
  for (const [index, name] of requested.entries()) {
    if (existing.some((environment) => environment.name === name)) continue;
    const path = `/body/environments/${index}`;
    throw invalid(
      `The \`${path}\` property must name an environment that exists. You provided "${shortName(name)}".`,
      path,
    );
  }
  return existing.filter(({ name }) => requested.includes(name)).map(({ name }) => name);
};

export const createProjectEndpoint = ({ transaction, hideProjectAtGateway }: FeaturesContext) =>
  implement(CreateProject, (request) =>
    transaction(request, async ({ projects, events }) => {
      const { body, caller, now } = request;
      authoriseAtRoot(caller, CreateProject.permission);
      const name = body.name.trim();
      if (name === '') throw invalid('The `/body/name` property is not allowed to be empty.', '/body/name');
      const requestedId = body.id?.trim() ?? '';
      if (requestedId !== '') requireUrlFriendlyName(requestedId, '/body/id');

      const { taken, reserved, environments } = await projects.newProjectContext(requestedId || idFrom(name));
      if (taken && requestedId !== '') throw projectIdTaken();
      const id =
        requestedId || (taken || reserved ? `${idFrom(name)}-${randomBytes(4).toString('hex')}` : idFrom(name));
      const project = {
        id,
        name,
        description: body.description || null,
        mode: body.mode ?? 'open',
        defaultStickiness: body.defaultStickiness || 'default',
        environments: connected(body, environments),
      };
      if ((await projects.lockAndCount()) >= limits.projects) throw limitExceeded('project', limits.projects);
      const version = await projects.add(project, caller, now.toISOString());
      events.emit([{ type: 'project-created', project: id, data: project }]);
      if (project.mode === 'private') await hideProjectAtGateway({ id, version }, request);
      const { description, ...shown } = project;
      return description === null ? shown : { ...shown, description };
    }),
  );
