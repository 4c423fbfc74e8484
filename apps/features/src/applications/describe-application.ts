import { limitExceeded } from '@bunting/contracts';
import type { DomainEvent } from '../features/feature.ts';
import type { ApplicationCounts } from './admit-applications.ts';

/** A description of an application by a user; omitted properties stay unchanged. */
export interface ApplicationDescription {
  readonly appName: string;
  readonly description?: string | null | undefined;
  readonly url?: string | null | undefined;
  readonly color?: string | null | undefined;
  readonly icon?: string | null | undefined;
  readonly sdkVersion?: string | null | undefined;
  readonly strategies?: readonly string[] | undefined;
  readonly createdBy: string;
}

/** Describes an application. One that is not in the list is added to it, up to the limit. Returns the events. */
export const describeApplication = (
  application: ApplicationDescription,
  { isKnown, all }: Pick<ApplicationCounts, 'all'> & { readonly isKnown: boolean },
  limit: number,
): readonly DomainEvent[] => {
  if (isKnown) return [];
  if (all >= limit) throw limitExceeded('application', limit);
  return [{ type: 'application-created', data: application }];
};
