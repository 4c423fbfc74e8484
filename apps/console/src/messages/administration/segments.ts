import { formatCount } from '../format-number.ts';

export const segmentsMessages = {
  segments: 'Segments',
  name: 'Name',
  description: 'Description',
  project: 'Offered in',
  projectHint: 'A segment of one project is offered there only.',
  everyProject: 'Every project',
  conditions: 'Who is in it',
  everybody: 'everybody',
  flags: 'Flags',
  created: 'Created',
  create: 'Create a segment',
  newTitle: 'New segment',
  createdNow: (name: string) => `The segment ${name} is created.`,
  saved: (name: string) => `The segment ${name} is saved.`,
  usage: 'What uses it',
  usedBy: (n: number) =>
    `${formatCount(n, 'strategy', 'strategies')} ${n === 1 ? 'uses' : 'use'} it. A change reaches their users within seconds.`,
  unused: 'No strategy uses it.',
  proposedBy: (n: number) => `${formatCount(n, 'proposed strategy', 'proposed strategies')} would use it.`,
  notProposed: 'No open change request would use it.',
  changeRequest: (id: number | null, title: string | null) =>
    title ?? (id === null ? 'a draft' : `change request ${id}`),
  everybodyWarning:
    'No constraint is left: everybody is in the segment, and every strategy that uses it reaches everybody its other rules allow.',
  protected: (environments: readonly string[]) =>
    `${environments.join(' and ')} ${environments.length === 1 ? 'is' : 'are'} protected in the project: what you enter here can become part of your change request. To save it without one takes the permission SKIP_CHANGE_REQUEST, which you lack.`,
  appliesDirectly: (environments: readonly string[]) =>
    `${environments.join(' and ')} ${environments.length === 1 ? 'is' : 'are'} protected in the project. You have the permission to skip change requests: Save applies directly, without approval.`,
  propose: 'Propose in a change request',
  proposed: (id: number) => `Added to change request ${id}.`,
  deletionProposed: (name: string) => `The deletion of ${name} is part of your change request.`,
  deletionHelp: 'The segment is deleted when the change request is applied.',
  proposalConflict: 'Another person has changed the same fields meanwhile. Load the page again before you propose it.',
  showProposal: 'Show the change request',
  delete: 'Delete the segment',
  deleteTitle: (name: string) => `Delete the segment “${name}”`,
  deleteHelp: 'It cannot be brought back; the event log keeps what it was.',
  inUse: 'It is in use. Take it out of the strategies below first.',
  deleted: (name: string) => `The segment ${name} is deleted.`,
  empty: 'No segments yet',
  emptyHelp: 'A segment is a named set of constraints, such as beta testers, that strategies of many flags use.',
} as const;
