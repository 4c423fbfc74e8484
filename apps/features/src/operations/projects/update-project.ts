import { implement } from '@bunting/bus';
import { UpdateProject } from '@bunting/contracts';
import { updateProject } from '../../domain/project.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { foundProject } from './found-project.ts';
import type { Hide } from './hide-project.ts';
import { keepProject } from './keep-project.ts';

export const updateProjectEndpoint = (work: UnitOfWork, hide: Hide) =>
  implement(UpdateProject, (asked) =>
    work(asked, async (tx) => {
      const { params, body, caller } = asked;
      const { project } = await foundProject(tx, { id: params.projectId, caller, access: UpdateProject.permission });
      await keepProject(tx, project, updateProject(project, body), asked, hide);
      return null;
    }),
  );
