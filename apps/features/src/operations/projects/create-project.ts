import { implement } from '@bunting/bus';
import { CreateProject } from '@bunting/contracts';
import { randomBytes } from 'node:crypto';
import { fixedResourceLimits } from '../../domain/fixed-resource-limits.ts';
import { newProject, proposedProjectId } from '../../domain/projects/new-project.ts';
import { requireBelowLimit } from '../../domain/refusals.ts';
import { hideProjectInGateway } from './hide-project-in-gateway.ts';
import type { FeaturesContext } from '../context.ts';

export const createProjectEndpoint = ({ transaction, bus }: FeaturesContext) =>
  implement(CreateProject, (request) =>
    transaction(request, async ({ projects }) => {
      const { body, caller, now } = request;
      // Locks before it reads, so that projects that are created concurrently with one name get different ids.
      const count = await projects.lockAndCount();
      const proposed = proposedProjectId(body);
      const existing = await projects.newProjectContext(proposed.id);
      const decision = newProject(body, proposed, existing, randomBytes(4).toString('hex'));
      const { project } = decision;
      requireBelowLimit('project', count, fixedResourceLimits.projects);
      const version = await projects.add(project, caller, now.toISOString(), decision.events);
      if (project.mode === 'private') await hideProjectInGateway(bus, { id: project.id, version }, request);
      const { description, featureLimit, ...reply } = project;
      return {
        ...reply,
        ...(description !== null && { description }),
        ...(featureLimit !== null && { featureLimit }),
      };
    }),
  );
