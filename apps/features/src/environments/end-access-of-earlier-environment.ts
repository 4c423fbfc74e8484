import { type Bus, onBehalfOf, type OperationRequest } from '@bunting/bus';
import { type AnyOperation, EndEnvironmentAccess } from '@bunting/contracts';
import { call } from '../calls.ts';

/**
 * Calls the gateway to end the tokens and permissions that name a new environment, in its transaction, which holds the name: those of an
 * earlier environment must never hold in the new one. If the commit fails, they were for no environment anyway.
 * @throws Refusal `ServiceUnavailable` if the gateway does not reply, so that nothing is committed.
 */
export const endAccessOfEarlierEnvironment = async (
  bus: Bus,
  environment: string,
  request: OperationRequest<AnyOperation>,
): Promise<void> => {
  await call(bus, EndEnvironmentAccess, { body: { environment } }, onBehalfOf(request));
};
