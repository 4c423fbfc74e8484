import { implement } from '@bunting/bus';
import { UpdateProjectSettings } from '@bunting/contracts';
import { updateProjectSettings } from '../../domain/projects/project.ts';
import { authoriseAndLockProject } from './authorise-and-lock-project.ts';
import { saveProject } from './save-project.ts';
import type { FeaturesContext } from '../context.ts';

export const updateProjectSettingsEndpoint = ({ transaction, bus }: FeaturesContext) =>
  implement(UpdateProjectSettings, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const access = UpdateProjectSettings.permission;
      const { project } = await authoriseAndLockProject(tx, { id: params.projectId, caller, access });
      await saveProject(tx, { before: project, decision: updateProjectSettings(project, body) }, request, bus);
      return null;
    }),
  );
