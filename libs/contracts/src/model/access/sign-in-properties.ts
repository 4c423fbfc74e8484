import { Type } from 'typebox';
import { maxPasswordLength } from './account.ts';
import { Nullable } from '../schema.ts';

export const password = Type.String({ minLength: 1, maxLength: maxPasswordLength, description: 'the password' });

export const linkSecret = Type.String({ minLength: 1, maxLength: 255, description: 'the secret of the link' });

export const username = Type.Optional(
  Nullable(Type.String({ maxLength: 255 }), {
    description: 'the username; it or an e-mail address is required',
  }),
);
