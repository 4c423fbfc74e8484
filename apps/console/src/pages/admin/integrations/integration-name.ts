import type { Addon } from '@bunting/contracts';

/** The name of an integration: what it is for, else what it is. */
export function nameOf({ id, description, provider }: Pick<Addon, 'id' | 'description' | 'provider'>): string {
  return description || `${provider} ${id}`;
}
