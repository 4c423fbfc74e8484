import { type Bus, callIfSupported, implement, JsonText, onBehalfOf } from '@bunting/bus';
import {
  CountTokens,
  GetEnvironment,
  ListEnvironments,
  ListEnvironmentsOfProject,
  refusal,
  ValidateEnvironmentName,
} from '@bunting/contracts';
import { requireUrlFriendlyName } from '../../domain/names.ts';
import type { EnvironmentReader } from '../../persistence/environments.ts';
import { hiddenFrom } from '../seen-by.ts';
import { tagged } from '../tagged.ts';

const tokensOf = async (bus: Bus, asked: Parameters<typeof onBehalfOf>[0], project?: string) => {
  const body = project === undefined ? {} : { project };
  return (await callIfSupported(bus, CountTokens, { body }, onBehalfOf(asked)))?.environments ?? [];
};

export const listEnvironmentsEndpoint = (environments: EnvironmentReader, bus: Bus) =>
  implement(ListEnvironments, async (asked) => {
    const tokens = await tokensOf(bus, asked);
    return new JsonText(await environments.all(hiddenFrom(asked.caller), tokens));
  });

export const getEnvironmentEndpoint = (environments: EnvironmentReader, bus: Bus) =>
  implement(GetEnvironment, async (asked) => {
    const tokens = await tokensOf(bus, asked);
    return tagged(asked, await environments.one(asked.params.name, hiddenFrom(asked.caller), tokens));
  });

export const listEnvironmentsOfProjectEndpoint = (environments: EnvironmentReader, bus: Bus) =>
  implement(ListEnvironmentsOfProject, async (asked) => {
    const { projectId } = asked.params;
    return new JsonText(await environments.ofProject(projectId, await tokensOf(bus, asked, projectId)));
  });

export const validateEnvironmentNameEndpoint = (environments: EnvironmentReader) =>
  implement(ValidateEnvironmentName, async ({ body }) => {
    requireUrlFriendlyName(body.name);
    if (await environments.isTaken(body.name)) {
      throw refusal('NameExistsError', `An environment with the name ${body.name} already exists`);
    }
    return null;
  });
