import { implement, onBehalfOf } from '@bunting/bus';
import { GetChangeRequestConfig, ListEnvironmentSettingsOfProject } from '@bunting/contracts';
import { call } from '../../calls.ts';
import type { ChangeRequestsContext } from '../context.ts';

export const getChangeRequestConfigEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(GetChangeRequestConfig, async (request) => {
    const { params } = request;
    const [{ environments }, protectedEnvironments] = await Promise.all([
      call(bus, ListEnvironmentSettingsOfProject, { params }, onBehalfOf(request)),
      reader.protectedEnvironments(params.projectId),
    ]);
    const approvalsByEnvironment = new Map(
      protectedEnvironments.map(({ environment, requiredApprovals }) => [environment, requiredApprovals]),
    );
    return environments.map(({ name, type }) => ({
      environment: name,
      type,
      changeRequestEnabled: approvalsByEnvironment.has(name),
      requiredApprovals: approvalsByEnvironment.get(name) ?? null,
    }));
  });
