import { implement } from '@bunting/bus';
import { UpdateProjectSettings } from '@bunting/contracts';
import { updateProjectSettings } from '../../domain/project.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { foundProject } from './found-project.ts';
import type { Hide } from './hide-project.ts';
import { keepProject } from './keep-project.ts';

export const updateProjectSettingsEndpoint = (work: UnitOfWork, hide: Hide) =>
  implement(UpdateProjectSettings, (asked) =>
    work(asked, async (tx) => {
      const { params, body, caller } = asked;
      const access = UpdateProjectSettings.permission;
      const { project } = await foundProject(tx, { id: params.projectId, caller, access });
      await keepProject(tx, project, updateProjectSettings(project, body), asked, hide);
      return null;
    }),
  );
