import { type Bus, onBehalfOf } from '@bunting/bus';
import { CountEnvironmentTokens } from '@bunting/contracts';
import { callIfSupported } from '../calls.ts';

/** The numbers of tokens by environment, from the gateway; empty if the gateway is older and does not count them. */
export const loadTokenCounts = async (bus: Bus, request: Parameters<typeof onBehalfOf>[0], project?: string) => {
  const body = project === undefined ? {} : { project };
  return (await callIfSupported(bus, CountEnvironmentTokens, { body }, onBehalfOf(request)))?.environments ?? [];
};
