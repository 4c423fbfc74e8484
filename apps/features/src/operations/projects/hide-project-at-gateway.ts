import { type OperationRequest, type Bus, call, onBehalfOf } from '@bunting/bus';
import { type AnyOperation, HideProject } from '@bunting/contracts';

/**
 * Calls the gateway to hide a project that becomes private, as the last step of the transaction: after the commit only its members see it.
 * A retried transaction calls twice, and the commit may fail: the gateway unhides a project whose state does not confirm the change.
 * @throws Refusal `ServiceUnavailable` if the gateway does not reply, so that nothing is committed.
 */
export type HideProjectAtGateway = (
  project: { readonly id: string; readonly version: number },
  request: OperationRequest<AnyOperation>,
) => Promise<void>;

export const hideProjectAtGateway =
  (bus: Bus): HideProjectAtGateway =>
  async (body, request) => {
    await call(bus, HideProject, { body }, onBehalfOf(request));
  };
