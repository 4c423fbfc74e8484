// The conflicts that both features and change requests find, described alike.

/** The conflict of deleting a segment that a strategy uses, or would use after another change request. */
export const segmentInUse = (name: string) =>
  ({ code: 'segment-in-use', message: `Segment ${name} is in use` }) as const;

/** The conflict of every change in a project that was archived or deleted. */
export const projectGone = { code: 'project-gone', message: 'Project is no longer available' } as const;
