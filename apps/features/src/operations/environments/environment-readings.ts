import { implement, JsonText } from '@bunting/bus';
import {
  GetEnvironment,
  ListEnvironments,
  ListEnvironmentsOfProject,
  refusal,
  ValidateEnvironmentName,
} from '@bunting/contracts';
import { requireUrlFriendlyName } from '../../domain/names.ts';
import type { EnvironmentReader } from '../../persistence/environments.ts';
import { existing } from '../existing.ts';
import { hiddenFrom } from '../seen-by.ts';
import { tagged } from '../tagged.ts';

export const listEnvironmentsEndpoint = (environments: EnvironmentReader) =>
  implement(ListEnvironments, async ({ caller }) => new JsonText(await environments.all(hiddenFrom(caller))));

export const getEnvironmentEndpoint = (environments: EnvironmentReader) =>
  implement(GetEnvironment, async (asked) =>
    tagged(asked, await environments.one(asked.params.name, hiddenFrom(asked.caller))),
  );

export const listEnvironmentsOfProjectEndpoint = (environments: EnvironmentReader) =>
  implement(
    ListEnvironmentsOfProject,
    async ({ params }) => new JsonText(await environments.ofProject(params.projectId)),
  );

export const validateEnvironmentNameEndpoint = (environments: EnvironmentReader) =>
  implement(ValidateEnvironmentName, async ({ body }) => {
    requireUrlFriendlyName(body.name);
    if ((await existing(() => environments.one(body.name, []))) !== undefined) {
      throw refusal('NameExistsError', `An environment with the name ${body.name} already exists`);
    }
    return null;
  });
