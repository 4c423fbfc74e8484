import { implement } from '@bunting/bus';
import { SetDefaultStrategy } from '@bunting/contracts';
import {
  defaultStrategyUpdated,
  normalizeDefaultStrategy,
} from '../../domain/project-environments/default-strategy.ts';
import { possibleReferencesIn } from '../possible-references.ts';
import { authoriseAndLockProject } from '../projects/authorise-and-lock-project.ts';
import type { FeaturesContext } from '../context.ts';

export const setDefaultStrategyEndpoint = ({ transaction }: FeaturesContext) =>
  implement(SetDefaultStrategy, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const { projectId, environment } = params;
      const { project } = await authoriseAndLockProject(tx, {
        id: projectId,
        caller,
        access: SetDefaultStrategy.permission,
      });
      const projectContext = await tx.projectContext.ofProject(projectId, possibleReferencesIn(body));
      if (projectContext === undefined)
        throw new Error(`The project ${projectId} is locked, and has no projectContext.`);
      const strategy = normalizeDefaultStrategy(project.id, environment, body, projectContext);
      const before = await tx.projects.defaultStrategyForUpdate(projectId, environment);
      const events = defaultStrategyUpdated({ project: projectId, environment }, before, strategy);
      if (events.length === 0) return strategy;
      await tx.projects.setDefaultStrategy(projectId, environment, strategy, events);
      return strategy;
    }),
  );
