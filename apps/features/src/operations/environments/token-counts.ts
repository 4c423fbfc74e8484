import { type Bus, callIfSupported, onBehalfOf } from '@bunting/bus';
import { CountTokens } from '@bunting/contracts';

export const loadTokenCounts = async (bus: Bus, request: Parameters<typeof onBehalfOf>[0], project?: string) => {
  const body = project === undefined ? {} : { project };
  return (await callIfSupported(bus, CountTokens, { body }, onBehalfOf(request)))?.environments ?? [];
};
