import { implement } from '@bunting/bus';
import { ReviveProject } from '@bunting/contracts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { foundProject } from './found-project.ts';

export const reviveProjectEndpoint = (work: UnitOfWork) =>
  implement(ReviveProject, (asked) =>
    work(asked, async (tx) => {
      const { params, caller } = asked;
      const ask = { id: params.projectId, caller, access: ReviveProject.permission, orArchived: true };
      const { project, isArchived } = await foundProject(tx, ask);
      if (!isArchived) return null;
      await tx.projectSettings.setArchived(project.id, null);
      tx.events.record([{ type: 'project-revived', project: project.id }]);
      return null;
    }),
  );
