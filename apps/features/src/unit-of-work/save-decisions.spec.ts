import { describe, expect, it } from 'vitest';
import { aFeature, aUserReference } from '../../test/builders.ts';
import { withCollaborator } from './save-decisions.ts';

describe('the collaborators of a feature', () => {
  const mia = aUserReference(1, 'mia');
  const lee = aUserReference(7, 'lee');

  it('are those who changed it, latest change first and each once', () => {
    const feature = aFeature({ collaborators: [mia, lee] });
    expect(withCollaborator(feature, lee).collaborators).toEqual([lee, mia]);
    expect(withCollaborator(feature, aUserReference(9, 'kim')).collaborators.map(({ id }) => id)).toEqual([9, 1, 7]);
    expect(withCollaborator(feature, { ...lee, name: 'Lee' }).collaborators).toEqual([{ ...lee, name: 'Lee' }, mia]);
  });

  it('stay the same when the latest collaborator changes it again', () => {
    const feature = aFeature({ collaborators: [mia, lee] });
    expect(withCollaborator(feature, mia)).toBe(feature);
  });
});
