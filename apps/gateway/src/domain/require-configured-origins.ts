import { isEqual, refusal } from '@bunting/contracts';

const sorted = (origins: readonly string[]): string[] => [...new Set(origins)].toSorted();

/**
 * The origins that may call the frontend API are a setting of the gateway; a request may only repeat them, in any order.
 * @param requested undefined if the request names none
 * @throws Refusal `InvalidOperationError` for other origins
 */
export const requireConfiguredOrigins = (
  requested: readonly string[] | undefined,
  configured: readonly string[],
): void => {
  if (requested === undefined || isEqual(sorted(requested), sorted(configured))) return;
  throw refusal(
    'InvalidOperationError',
    'The origins of pages are the setting GATEWAY_FRONTEND_CORS_ORIGINS: change it there, and restart the gateway.',
  );
};
