import { asJsonObject, memberOf } from '@bunting/contracts';
import type { DomainEvent } from '../features/feature.ts';

/** What an edit changes, by which its events are recognised. */
export type EditedObject =
  | { readonly kind: 'feature'; readonly name: string }
  | { readonly kind: 'segment'; readonly id: number }
  | { readonly kind: 'environments-of-project'; readonly project: string };

/** An edit that was allowed to skip change requests, with the protected environments that it affects. */
export interface ChangeRequestBypass {
  readonly edited: EditedObject;
  readonly environments: readonly string[];
}

const isAbout = (edited: EditedObject, { type, project, featureName, data, preData }: DomainEvent): boolean => {
  switch (edited.kind) {
    case 'feature':
      return featureName === edited.name;
    case 'segment':
      return type.startsWith('segment-') && (memberOf(data, 'id') ?? memberOf(preData, 'id')) === edited.id;
    case 'environments-of-project':
      return type === 'project-environment-removed' && project === edited.project;
  }
};

/** The event, marked with `bypassedChangeRequest` if it belongs to an edit that was allowed to skip change requests. */
export const markBypass = (event: DomainEvent, bypasses: readonly ChangeRequestBypass[]): DomainEvent => {
  const { environment = null } = event;
  const isBypass = bypasses.some(
    ({ edited, environments }) =>
      isAbout(edited, event) && (environment === null || environments.includes(environment)),
  );
  return isBypass ? { ...event, data: { ...asJsonObject(event.data), bypassedChangeRequest: true } } : event;
};
