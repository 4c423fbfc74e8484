import {
  type AnyOperation,
  boundEnvironment,
  type Caller,
  type ClientFeaturesQuery,
  deliveryScope,
  type DeliveryScope,
  noSuchDeliveryEnvironment,
  permissionsFor,
  staleHeader,
  unavailable,
} from '@bunting/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ParsedOperationRequest, requirePermission } from '@bunting/http';
import type { Delivery } from './delivery.ts';
import type { DeliveryStore } from './store/delivery-store.ts';
import type { DeliveryView, MayBeLater } from './view/delivery-view.ts';

/** An admitted request that matches the contract. */
export interface ParsedSdkRequest extends ParsedOperationRequest {
  readonly caller: Caller;
}

/** Responds to a routed request of an SDK from memory. */
export type SdkHandler = (
  request: FastifyRequest,
  response: FastifyReply,
  parsed: ParsedSdkRequest,
) => Promise<FastifyReply>;

/** The first version of the client specification with deltas, and with segments beside the features. */
export const deltaClientSpec = '5.2.0';

/**
 * The scope of a request, whose caller has the permission of the operation in the environment.
 * @throws Refusal for an environment that does not exist, or that the token is not for
 */
export function authorisedScopeOf(
  store: Pick<DeliveryStore, 'environmentOf'>,
  operation: AnyOperation,
  caller: Caller,
  query: ClientFeaturesQuery,
): DeliveryScope {
  const environment = store.environmentOf(caller, query.environment);
  if (environment === undefined) {
    throw noSuchDeliveryEnvironment(boundEnvironment(caller) ?? query.environment ?? 'default');
  }
  requirePermission(caller, permissionsFor(operation), { environment });
  return deliveryScope(caller, environment, query);
}

/** The revision that a client names; undefined for anything else than a number of at most 15 digits. */
export function parseRevision(text: unknown): number | undefined {
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/**
 * @throws Refusal `ServiceUnavailable` while the features are not loaded: after the start of the gateway, and after the database of the
 * features service was restored from a backup
 */
export function requireLoaded({ isLoaded }: Pick<Delivery, 'isLoaded'>): void {
  if (!isLoaded) throw unavailable('The features are not loaded yet. Retry after 1 s.');
}

/** Brings the store up to date, and returns the scope of a request, its view, and which later revisions its client may have. */
export function viewAfterCatchUp(delivery: Delivery) {
  return async (
    operation: AnyOperation,
    response: FastifyReply,
    caller: Caller,
    query: ClientFeaturesQuery,
  ): Promise<{ readonly scope: DeliveryScope; readonly view: DeliveryView; readonly mayBeLater: MayBeLater }> => {
    const behindMs = await delivery.catchUp();
    requireLoaded(delivery);
    if (behindMs > 0) response.header(staleHeader, String(behindMs));
    // An SDK would take a 400 for an error of its configuration.
    if (behindMs > 0 && delivery.store.environmentOf(caller, query.environment) === undefined)
      throw unavailable('The newest environments cannot be read, and this one is not known. Retry after 1 s.');
    const scope = authorisedScopeOf(delivery.store, operation, caller, query);
    return { scope, view: delivery.viewOf(scope), mayBeLater: delivery.laterRevisions(behindMs) };
  };
}
