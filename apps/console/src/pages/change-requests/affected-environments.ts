import type { ChangeRequest } from '@bunting/contracts';
import { useEnvironments } from '../../api/queries-and-mutations.ts';

/** Where a request changes something, its own environment included: production first, since that is what a reviewer has to know. */
export function useAffectedEnvironments({
  environment,
  affectedEnvironments = [],
}: Pick<ChangeRequest, 'environment' | 'affectedEnvironments'>): readonly string[] {
  const known = useEnvironments().data?.environments;
  const isProduction = (name: string): boolean => known?.find((one) => one.name === name)?.type === 'production';
  const names = [...new Set([environment, ...affectedEnvironments])];
  return names.toSorted((one, other) => +isProduction(other) - +isProduction(one));
}
