import { type OperationRequest, type Bus, onBehalfOf } from '@bunting/bus';
import { type AnyOperation, HideProject } from '@bunting/contracts';
import { call } from '../calls.ts';

/**
 * Calls the gateway to hide a project that becomes private, as the last step of the transaction: after the commit only its members see it.
 * A retried transaction calls twice, and the commit may fail: the gateway unhides a project whose state does not confirm the change.
 * @throws Refusal `ServiceUnavailable` if the gateway does not reply, so that nothing is committed.
 */
export const hideProjectInGateway = async (
  bus: Bus,
  project: { readonly id: string; readonly version: number },
  request: OperationRequest<AnyOperation>,
): Promise<void> => {
  await call(bus, HideProject, { body: project }, onBehalfOf(request));
};
