import { type Bus, callIfSupported, onBehalfOf } from '@bunting/bus';
import { CountEnvironmentTokens } from '@bunting/contracts';

export const loadTokenCounts = async (bus: Bus, request: Parameters<typeof onBehalfOf>[0], project?: string) => {
  const body = project === undefined ? {} : { project };
  return (await callIfSupported(bus, CountEnvironmentTokens, { body }, onBehalfOf(request)))?.environments ?? [];
};
