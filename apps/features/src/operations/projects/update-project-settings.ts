import { implement } from '@bunting/bus';
import { UpdateProjectSettings } from '@bunting/contracts';
import { updateProjectSettings } from '../../domain/project.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { foundProject } from './found-project.ts';
import { keepProject } from './keep-project.ts';

export const updateProjectSettingsEndpoint = (work: UnitOfWork) =>
  implement(UpdateProjectSettings, (asked) =>
    work(asked, async (tx) => {
      const { params, body, caller, now } = asked;
      const access = UpdateProjectSettings.permission;
      const { project } = await foundProject(tx, { id: params.projectId, caller, access });
      await keepProject(tx, updateProjectSettings(project, body), now);
      return null;
    }),
  );
