import { implement } from '@bunting/bus';
import { maySee, ValidateFeatureName } from '@bunting/contracts';
import { requireMatchingName, requireUrlFriendlyName } from '../../domain/names.ts';
import { featureNameTaken } from '../../domain/refusals.ts';
import type { FeaturesContext } from '../context.ts';

export const validateFeatureNameEndpoint = ({ projects }: FeaturesContext) =>
  implement(ValidateFeatureName, async ({ body, caller }) => {
    const { name } = body;
    const projectId = body.projectId ?? '';
    requireUrlFriendlyName(name);
    const { taken, project } = await projects.newFeatureContext(maySee(caller, projectId) ? projectId : '', name);
    if (taken !== null) throw featureNameTaken(taken);
    requireMatchingName(name, project?.naming);
    return null;
  });
