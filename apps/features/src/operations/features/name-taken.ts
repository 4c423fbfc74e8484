import { type Refusal, refusal } from '@bunting/contracts';

/** 409: a feature of that name is there already, in whichever project. */
export const nameTaken = (by: 'active' | 'archived'): Refusal =>
  refusal('NameExistsError', `${by === 'archived' ? 'An archived flag' : 'A flag'} with that name already exists`);
