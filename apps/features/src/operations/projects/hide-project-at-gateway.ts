import { type OperationRequest, type Bus, call, onBehalfOf } from '@bunting/bus';
import { type AnyOperation, HideProject } from '@bunting/contracts';

/**
 * Has the gateway hide a project that becomes private, last in the transaction: after the commit only its members see it. A retried
 * transaction calls twice, and the commit may fail; the gateway reveals a project whose state does not confirm it.
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
