import { implement, JsonText } from '@bunting/bus';
import { ListProjects } from '@bunting/contracts';
import type { ProjectReader } from '../../persistence/project-repository.ts';
import { hiddenFrom } from '../seen-by.ts';

export const listProjectsEndpoint = (projects: ProjectReader) =>
  implement(ListProjects, async ({ caller }) => new JsonText(await projects.all(caller.id, hiddenFrom(caller))));
