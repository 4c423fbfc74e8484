import { type Static, Type } from 'typebox';

/** The ways to sign in, in the form from which user interfaces of Unleash build their sign-in page. */
export const SignInOptions = Type.Object({
  path: Type.String({ description: 'with 401: where a password is sent to' }),
  type: Type.String({ description: 'with 401: `password`, the kind of the form' }),
  defaultHidden: Type.Boolean({
    description: 'with 401: whether the form for a password is hidden, as passwords are turned off',
  }),
  options: Type.Array(
    Type.Object({
      type: Type.String({ description: 'the kind of single sign-on' }),
      message: Type.String({ description: 'the label of the button' }),
      path: Type.String({ description: 'where the button leads to' }),
    }),
    { description: 'with 401: the ways of single sign-on' },
  ),
});
export type SignInOptions = Static<typeof SignInOptions>;
