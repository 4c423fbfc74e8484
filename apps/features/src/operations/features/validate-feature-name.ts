import { implement } from '@bunting/bus';
import { maySee, ValidateFeatureName } from '@bunting/contracts';
import { requireMatchingName, requireUrlFriendlyName } from '../../domain/names.ts';
import type { ProjectReader } from '../../persistence/project-repository.ts';
import { nameTaken } from './name-taken.ts';

export const validateFeatureNameEndpoint = (projects: ProjectReader) =>
  implement(ValidateFeatureName, async ({ body, caller }) => {
    const { name } = body;
    const projectId = body.projectId ?? '';
    requireUrlFriendlyName(name);
    const { taken, project } = await projects.placeForFeature(maySee(caller, projectId) ? projectId : '', name);
    if (taken !== null) throw nameTaken(taken);
    requireMatchingName(name, project?.naming);
    return null;
  });
