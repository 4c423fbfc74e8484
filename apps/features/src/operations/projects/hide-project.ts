import { type OperationRequest, type Bus, call, onBehalfOf } from '@bunting/bus';
import { type AnyOperation, HideProject } from '@bunting/contracts';

/**
 * Has the gateway hide a project that becomes private, as the last thing before the commit: from the commit on nobody sees it who may not.
 * The transaction may do this twice, and the commit may still fail; the gateway takes back what no state confirms.
 * @throws Refusal `ServiceUnavailable` when the gateway does not answer: then nothing is committed.
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
