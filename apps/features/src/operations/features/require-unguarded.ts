import { type Caller, may, refusal } from '@bunting/contracts';
import { named } from '../../domain/refusals.ts';
import type { Work } from '../../persistence/unit-of-work.ts';

/** Refuses to bring a feature with its strategies into a project that takes change requests for them, past those. */
export const requireUnguarded = async (
  { protection }: Pick<Work, 'protection'>,
  what: 'Cloning' | 'Changing project',
  project: string,
  caller: Caller,
): Promise<void> => {
  if (may(caller, ['ADMIN'], { project })) return;
  const guarded = await protection.protectedOf(project);
  if (guarded.every((environment) => may(caller, ['SKIP_CHANGE_REQUEST'], { project, environment }))) return;
  throw refusal('ForbiddenError', `${what} not allowed. Project ${named(project)} has change requests enabled.`);
};
