import { implement } from '@bunting/bus';
import { UpdateProjectSettings } from '@bunting/contracts';
import { updateProjectSettings } from '../../domain/project.ts';
import { foundProject } from './found-project.ts';
import { keepProject } from './keep-project.ts';
import type { FeaturesContext } from '../context.ts';

export const updateProjectSettingsEndpoint = ({ work, hideProject: hide }: FeaturesContext) =>
  implement(UpdateProjectSettings, (request) =>
    work(request, async (tx) => {
      const { params, body, caller } = request;
      const access = UpdateProjectSettings.permission;
      const { project } = await foundProject(tx, { id: params.projectId, caller, access });
      await keepProject(tx, project, updateProjectSettings(project, body), request, hide);
      return null;
    }),
  );
