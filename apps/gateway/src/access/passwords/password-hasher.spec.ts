import { describe, expect, it } from 'vitest';
import { hash as bcryptHash } from 'bcryptjs';
import { passwordHasher } from './password-hasher.ts';

const passwords = passwordHasher(4);

describe('a bcrypt hash', () => {
  it('is matched by its password alone', async () => {
    const hash = await bcryptHash('Correct-horse-7', 4);
    expect(await passwords.verify('Correct-horse-7', hash)).toEqual({ isMatch: true, isOutdated: true });
    expect(await passwords.verify('Correct-horse-8', hash)).toEqual({ isMatch: false, isOutdated: true });
  });

  it('that bcrypt cannot compute is a defect, and not a wrong password', async () => {
    const hash = (await bcryptHash('Correct-horse-7', 4)).replace('$04$', '$03$');
    await expect(passwords.verify('Correct-horse-7', hash)).rejects.toThrow('Illegal number of rounds (4-31): 3');
  });
});

it('a stored hash of an unknown form is a defect, and not a wrong password', async () => {
  await expect(passwords.verify('Correct-horse-7', 'plain text')).rejects.toThrow('a hash of an unknown form');
});
