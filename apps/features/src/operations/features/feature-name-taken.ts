import { type Refusal, refusal } from '@bunting/contracts';

/** The refusal of a name that a feature of any project has. */
export const featureNameTaken = (by: 'active' | 'archived'): Refusal =>
  refusal('NameExistsError', `${by === 'archived' ? 'An archived flag' : 'A flag'} with that name already exists`);
