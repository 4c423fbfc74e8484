/** An event as the log holds it, with its data as the JSON text that is stored. */
export interface ChainedEvent {
  readonly id: number;
  readonly uid: string;
  readonly type: string;
  /** in UTC, with six digits after the seconds: `2026-11-21T08:00:00.000000Z` */
  readonly createdAt: string;
  readonly createdBy: string;
  readonly createdByUserId: number | null;
  readonly project: string | null;
  readonly environment: string | null;
  readonly featureName: string | null;
  readonly data: string | null;
  readonly preData: string | null;
  readonly tags: string;
  readonly groupType: string | null;
  readonly groupId: string | null;
}

/**
 * The text whose SHA-256 is the hash of an event: a JSON array of the previous event's hash, in hex, and of all properties of the event.
 * The text is unique to the event: it changes with any property, with the position in the log and with any previous event.
 */
export function hashInput(before: string, event: ChainedEvent): string {
  const { id, uid, type, createdAt, createdBy, createdByUserId, project, environment, featureName } = event;
  const plain = JSON.stringify([
    before,
    id,
    uid,
    type,
    createdAt,
    createdBy,
    createdByUserId,
    project,
    environment,
    featureName,
  ]);
  // An event without a group has the hash that it had before events had groups.
  const { groupType, groupId } = event;
  const group = groupType === null && groupId === null ? '' : `,${JSON.stringify([groupType, groupId])}`;
  return `${plain.slice(0, -1)},${event.data ?? 'null'},${event.preData ?? 'null'},${event.tags}${group}]`;
}

/** The ways in which an event of the chain can differ from the appended one. */
export type FaultKind = 'missing' | 'altered' | 'moved' | 'added' | 'head';

export interface ChainFault {
  readonly id: number;
  readonly kind: FaultKind;
  readonly message: string;
}

/** The fault at an event id, with a sentence that describes it. */
export function chainFault(id: number, kind: FaultKind, detail = ''): ChainFault {
  return {
    id,
    kind,
    message: {
      missing: `Event ${id} is missing: it was removed, or the log was cut off there${detail}.`,
      altered: `Event ${id} is not what it was: its content does not fit its hash and the event before it${detail}.`,
      moved: `Event ${id} is not in its place: the event that belongs there now has ${detail}.`,
      added: `Event ${id} is beyond the end of the log: it was put there by hand.`,
      head: `The end of the log does not fit event ${id}, the last one: one of them was changed${detail}.`,
    }[kind],
  };
}
