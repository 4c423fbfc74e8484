import { implement } from '@bunting/bus';
import { CountChangeRequests } from '@bunting/contracts';
import { readInProject } from '../require-project.ts';
import type { ChangeRequestsContext } from '../context.ts';

export const countChangeRequestsEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(CountChangeRequests, (request) =>
    readInProject(bus, request, reader.countsByState(request.params.projectId)),
  );
