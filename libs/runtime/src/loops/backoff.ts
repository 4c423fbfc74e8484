/**
 * The pause after a number of failures in a row: it doubles from `firstMs` up to `maxMs`. Jitter of 25 percent either way keeps
 * replicas from retrying in step.
 */
export const backoffMs = (
  failures: number,
  { firstMs, maxMs }: { readonly firstMs: number; readonly maxMs: number },
): number => Math.min(maxMs, firstMs * 2 ** (failures - 1)) * (0.75 + Math.random() / 2);
