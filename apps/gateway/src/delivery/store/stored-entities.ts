/** A segment as JSON text, with the position of the row that last changed it. */
export interface SegmentEntry {
  readonly id: number;
  position: number;
  /** the position of the row that last changed the constraints */
  evaluatedPosition: number;
  /** undefined once it is deleted */
  json: string | undefined;
  /** a JSON array without its brackets */
  constraints: string;
}

/** A feature that was deleted from a project or moved to another: SDKs of the first project remove it. */
export interface FormerFeature {
  readonly name: string;
  readonly project: string;
  readonly position: number;
  /** until the row of its deletion is complete: the position is that of its archiving */
  readonly wasArchived?: true;
}
