import { implement } from '@bunting/bus';
import { UpdateProject } from '@bunting/contracts';
import { updateProject } from '../../domain/project.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { foundProject } from './found-project.ts';
import { keepProject } from './keep-project.ts';

export const updateProjectEndpoint = (work: UnitOfWork) =>
  implement(UpdateProject, (asked) =>
    work(asked, async (tx) => {
      const { params, body, caller, now } = asked;
      const { project } = await foundProject(tx, { id: params.projectId, caller, access: UpdateProject.permission });
      await keepProject(tx, updateProject(project, body), now);
      return null;
    }),
  );
